"""One plain look for all pages, light and dark. System fonts only: nothing is fetched."""

import gradio as gr

THEME = gr.themes.Base(
    primary_hue="blue",
    neutral_hue="slate",
    font=["system-ui", "Segoe UI", "Roboto", "Liberation Sans", "sans-serif"],
    font_mono=["ui-monospace", "SFMono-Regular", "Menlo", "Liberation Mono", "monospace"],
).set(
    block_info_text_color="*neutral_600",
    block_info_text_color_dark="*neutral_300",
    block_title_text_color="*neutral_700",
    block_title_text_color_dark="*neutral_200",
    block_label_text_color="*neutral_700",
    block_label_text_color_dark="*neutral_200",
    body_text_color_subdued="*neutral_600",
    body_text_color_subdued_dark="*neutral_300",
    link_text_color="*primary_700",
    link_text_color_dark="*primary_300",
    button_primary_background_fill="*primary_700",
    button_primary_background_fill_hover="*primary_800",
    button_primary_background_fill_dark="*primary_700",
    button_primary_text_color="white",
)

CSS = """
:root {
  --ink: #1e293b; --soft: #526077; --line: #d7dee8; --card: #f8fafc; --accent: #1d4ed8;
  --match: #166534; --substitute: #8a4b04; --add: #1d4ed8; --delete: #b91c1c;
  --substitute-fill: #fef3c7; --add-fill: #e0eaff; --delete-fill: #fee2e2;
}
.dark {
  --ink: #e2e8f0; --soft: #a3b1c6; --line: #334155; --card: #16202f; --accent: #7db0ff;
  --match: #86d9a4; --substitute: #f5c168; --add: #9cc2ff; --delete: #ff9c9c;
  --substitute-fill: #45330b; --add-fill: #1c3158; --delete-fill: #551d20;
}
.gradio-container { max-width: 1240px !important; margin: 0 auto !important; }
.gradio-container :is(a, button, summary, textarea, input, [role=tab]):focus-visible,
.gradio-container label:has(input:focus-visible) { outline: 3px solid var(--accent) !important; outline-offset: 2px; }
header, .report, .note, .problem { color: var(--ink); line-height: 1.5; font-size: 15px; }
header h1 { font-size: 28px; font-weight: 700; margin: 4px 0; }
header .question { font-size: 18px; margin: 0 0 4px; }
header a { color: var(--accent); text-decoration: underline; }
.gradio-container button[role=tab].selected { color: var(--accent); }
.problem-place:not(:has(.problem)) { display: none; }
.html-container:has(> div > :is(.note, .problem)) { padding: 0 4px !important; }
.note { color: var(--soft); font-size: 14px; margin: 2px 0 6px; }
.editor textarea { font-family: var(--font-mono); font-size: 13px; line-height: 1.5; white-space: pre;
  overflow-x: auto; }
.problem { border: 2px solid var(--delete); border-radius: 6px; padding: 8px 12px; background: var(--card);
  margin: 0; overflow-wrap: anywhere; }
.problem.other-input { border-color: var(--substitute); margin-bottom: 8px; }
.gradio-container:has(.other-input) :is(.report, #python, #download) { opacity: .5; }

footer .divider { display: none; }
footer .show-api { display: flex !important; }

.report h2 { font-size: 18px; font-weight: 650; margin: 22px 0 6px; }
.report h3 { font-size: 14px; font-weight: 600; margin: 0; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 10px; }
.card { border: 1px solid var(--line); border-radius: 8px; background: var(--card); padding: 10px 12px; }
.card:first-child { border: 2px solid var(--accent); }
.card p { margin: 0; }
.card .value { font-size: 26px; font-weight: 700; font-variant-numeric: tabular-nums; line-height: 1.3; }
.card .interval, .card .meaning { color: var(--soft); font-size: 13px; line-height: 1.4; }

.tally { display: flex; flex-wrap: wrap; gap: 4px 18px; list-style: none; padding: 0; margin: 0 0 6px;
  font-size: 14px; }
.report table { border-collapse: collapse; width: 100%; margin: 0 0 12px; font-size: 14px; }
.report table :is(th, td) { text-align: left; padding: 4px 8px; font-weight: 400; vertical-align: top; border: 0; }
.alignment { table-layout: fixed; }
.alignment thead th { color: var(--soft); font-size: 12px; }
.alignment thead th:nth-child(1) { width: 112px; }
.alignment thead th:nth-child(2) { width: 26%; }
.alignment .head th { font-weight: 600 !important; background: var(--card); font-size: 13px; }
.alignment tbody tr > * { border-top: 1px solid var(--line) !important; overflow-wrap: anywhere; }
.alignment .captioned { border-left: 4px solid var(--line); }
.alignment .captioned + tbody:not(.captioned) > tr:first-child > * { border-top: 4px solid var(--line) !important; }
.alignment .value { white-space: pre-wrap; font-family: var(--font-mono); font-size: 13px; }
.alignment small { display: block; color: var(--soft); font-size: 12px; font-weight: 400; }
.operation b { display: inline-block; width: 14px; text-align: center; }
.match b, .match .operation { color: var(--match); }
.substitute b, .substitute .operation { color: var(--substitute); }
.add b, .add .operation { color: var(--add); }
.delete b, .delete .operation { color: var(--delete); }
.alignment tr:is(.substitute, .add, .delete) .operation { font-weight: 600; }
.report del { text-decoration: line-through; background: var(--delete-fill); color: var(--ink); border-radius: 2px; }
.report ins { text-decoration: underline; background: var(--add-fill); color: var(--ink); border-radius: 2px; }
.none { color: var(--soft); font-family: var(--font); font-style: italic; }

.bars th { width: 34%; overflow-wrap: anywhere; }
.bars .bar { width: 50%; padding-right: 0 !important; vertical-align: middle !important; }
.bars .bar::before { content: ""; }
.bars .bar span { display: block; height: 14px; min-width: 2px; background: var(--accent); border-radius: 2px; }
.bars td:last-child { text-align: right !important; font-variant-numeric: tabular-nums; }
.bars .bar { background: linear-gradient(var(--line), var(--line)) no-repeat 8px center / calc(100% - 8px) 1px; }

.chart { width: 100%; max-width: 480px; height: auto; display: block; }
.chart text { fill: var(--soft); font-size: 12px; font-family: var(--font); }
.chart .axis { fill: var(--ink); }
.chart .grid { stroke: var(--line); }
.chart polyline { fill: none; stroke: var(--accent); stroke-width: 2; }
.chart circle { fill: var(--accent); }
.chart .mark { fill: none; stroke: var(--substitute); stroke-width: 3; }
.chart .level { stroke: var(--match); stroke-dasharray: 5 4; }
.chart .level-name { fill: var(--match); }

.report details { border: 1px solid var(--line); border-radius: 6px; padding: 6px 12px; margin: 8px 0; }
.report summary { cursor: pointer; padding: 2px 0; }
.report .document summary span { float: right; color: var(--soft); font-variant-numeric: tabular-nums; }
.plain th { width: 60%; }
.plain td { font-variant-numeric: tabular-nums; }

@media (max-width: 600px) {
  .gradio-container > .main { padding: 8px !important; }
  .report table :is(th, td) { padding: 3px 4px; }
  .report section { overflow-x: auto; }
  .cards { grid-template-columns: 1fr 1fr; }
  .card { padding: 8px; }
  .alignment, .alignment tbody { display: block; }
  .alignment thead { position: absolute; clip-path: inset(50%); }
  .alignment tr { display: grid; grid-template-columns: 1fr 1fr; border-top: 1px solid var(--line) !important; }
  .alignment .captioned + tbody:not(.captioned) > tr:first-child { border-top-width: 4px !important; }
  .alignment :is(tr.head, tr.head th) { display: block; }
  .alignment tbody :is(th, td) { border: 0 !important; padding: 2px 6px !important; }
  .alignment .value::before { content: attr(data-side); display: block; color: var(--soft); font: 12px var(--font); }
  .alignment .operation { order: -1; }
}
"""
