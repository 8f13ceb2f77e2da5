"""Every page in a real browser: its examples, editors, files, options, code, download and API."""

import json
import re
import subprocess
import sys

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import START_UP
from helpers import ROOT, load
from pages import PAGES, find_browser, open_browser, read_page, run_page

from metrics.drawing import ERROR_RATES
from metrics.files import pair_documents, read_documents

pytestmark = pytest.mark.skipif(
    find_browser() is None, reason="no browser: install chromium, e.g. apt-get install chromium"
)

PATIENCE = 30_000  # milliseconds, for a machine that is busy
HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script> ${window.hacked=1} {{value}}'


@pytest.fixture(scope="module")
def browser():
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module", params=PAGES)
def space(request, tmp_path_factory):
    """A running page: its declaration, its metric and its address."""
    name = request.param
    with run_page(name, tmp_path_factory.mktemp(name)) as (url, seconds):
        request.config.stash[START_UP][name] = seconds
        yield Space(name, url)


class Space:
    def __init__(self, name, url):
        self.name, self.url = name, url
        self.declared = read_page(name)
        self.metric = load(name, keep_in_memory=True)
        self.headline = next(iter(self.declared.scores))
        self.perfect = "0.000" if self.headline in ERROR_RATES else "1.000"


@pytest.fixture
def page(space, browser):
    """The page in a fresh window. No request may leave it, and no script may fail."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=space.url)
    context.set_default_timeout(PATIENCE)
    page, requests, failures = context.new_page(), [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.goto(space.url)
    for part in (".report", "#examples input", "#prediction textarea", "#reference textarea", "#download"):
        page.locator(part).first.wait_for()
    yield page
    hacked = page.evaluate("window.hacked")
    context.close()
    assert hacked is None, "a value was run as script"
    assert failures == []
    leaving = [url for url in requests if not url.startswith((space.url, "data:", "blob:"))]
    assert leaving == []


def wait(locator):
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE)
    return expect(locator)


def headline(page, space):
    return page.locator(f'[data-score="{space.headline}"] .value')


def edit(page, prediction, reference):
    for side, document in (("prediction", prediction), ("reference", reference)):
        text = document if isinstance(document, str) else json.dumps(document)
        page.locator(f"#{side} textarea").fill(text)


def open_panel(page, elem_id):
    panel = page.locator(f"#{elem_id}")
    if not panel.get_by_role("button").first.get_attribute("class").count("open"):
        panel.get_by_role("button").first.click()
    return panel


def write_option(page, name, text):
    open_panel(page, "options").locator(f"#option-{name} textarea").fill(text)


def shown(result, name):
    return f"{result[name]:.3f}" if isinstance(result[name], float) else str(result[name])


def download(page, button="#download"):
    with page.expect_download() as waiting:
        page.locator(button).click()
    return json.loads(waiting.value.path().read_text("utf-8"))


def test_every_example_scores(page, space):
    for example in reversed(space.declared.examples):
        page.get_by_label(example.title, exact=True).check()
        wait(page.locator("#note")).to_have_text(example.note)
        wait(page.locator("#prediction textarea")).to_have_value(documents_of(example)["predictions"][0])
        wait_for_scores(page, space, example)
        wait(page.locator(".problem")).to_have_count(0)


def wait_for_scores(page, space, example):
    result = space.metric.compute(**documents_of(example), **example.options)
    for name in space.declared.scores.keys() & result.keys():
        wait(page.locator(f'[data-score="{name}"] .value')).to_have_text(shown(result, name))


def test_page_opens_with_its_first_example_and_the_options_of_it(page, space):
    example, before = space.declared.examples[0], download(page)
    assert before | space.metric.compute(**documents_of(example), **example.options) == before
    for option in space.declared.all_options:
        if option.name in example.options and isinstance(example.options[option.name], str | dict | list):
            wait(page.locator(f"#option-{option.name} textarea")).to_have_value(
                option.shown(example.options[option.name])
            )
    # what the page reads from its components gives the same again
    page.locator("#prediction textarea").fill("[")
    wait(page.locator("#problem .problem")).to_be_visible()
    page.locator("#prediction textarea").fill(documents_of(example)["predictions"][0])
    wait(page.locator(".problem")).to_have_count(0)
    assert download(page) == before


def documents_of(example):
    from metrics.widget import write_document

    return {"predictions": [write_document(example.prediction)], "references": [write_document(example.reference)]}


def test_editing_changes_the_score(page, space):
    wait(headline(page, space)).not_to_have_text(space.perfect)
    page.locator("#prediction textarea").fill(page.locator("#reference textarea").input_value())
    wait(headline(page, space)).to_have_text(space.perfect)
    wait(page.locator(".alignment tr:is(.substitute, .add, .delete)")).to_have_count(0)


def test_typed_keys_change_the_score(page, space):
    edit(page, {"a": "1"}, {"a": "12"})
    wait(headline(page, space)).not_to_have_text(space.perfect)
    page.locator("#prediction textarea").press("End")
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    page.keyboard.type("2")
    wait(headline(page, space)).to_have_text(space.perfect)


def test_option_typed_before_the_panel_is_ready_is_kept(page, space):
    """Nothing in the panel is drawn later, when it could take what was typed away."""
    page.locator("#option-schema textarea").wait_for(state="attached")
    write_option(page, "schema", "total: string")
    edit(page, {"total": "LATTE"}, {"total": "latte"})
    wait(headline(page, space)).to_have_text(space.perfect)
    wait(page.locator("#option-schema textarea")).to_have_value("total: string")


def test_bad_input_shows_the_error_beside_the_editor_and_keeps_what_was_typed(page, space):
    typed = '{"total": [[1]]}'
    page.locator("#prediction textarea").fill(typed)
    wait(page.locator("#problem .problem")).to_contain_text('predictions[0]["total"][0]: expected a text')
    wait(page.locator("#prediction textarea")).to_have_value(typed)
    wait_until_of_other_input(page)
    page.locator("#prediction textarea").fill(page.locator("#reference textarea").input_value())
    wait(page.locator(".problem")).to_have_count(0)
    wait_until_current(page)
    wait(headline(page, space)).to_have_text(space.perfect)


def test_injected_markup_is_shown_as_text(page, space):
    edit(page, {HOSTILE: HOSTILE, "rows": [{HOSTILE: HOSTILE}]}, {HOSTILE: HOSTILE + " ", "rows": [{"b": HOSTILE}]})
    wait(page.locator('.alignment [data-side="prediction"]').filter(has_text=HOSTILE).first).to_be_visible()
    wait(page.locator(".alignment th").filter(has_text=HOSTILE).first).to_be_visible()
    assert page.locator("#report").locator("img, script").count() == 0
    page.locator("#prediction textarea").fill(f"{HOSTILE} [")
    wait(page.locator("#problem .problem")).to_contain_text("<img src=x onerror=")
    assert page.locator("#problem").locator("img, script").count() == 0


def test_schema_option_changes_the_score_and_cannot_read_files(page, space, tmp_path):
    edit(page, {"total": "LATTE"}, {"total": "latte"})
    wait(page.locator(".alignment").first).to_contain_text("latte")
    wait(headline(page, space)).not_to_have_text(space.perfect)
    write_option(page, "schema", "total: string")
    wait(headline(page, space)).to_have_text(space.perfect)
    (tmp_path / "schema.yaml").write_text("total: string\n")
    write_option(page, "schema", str(tmp_path / "schema.yaml"))
    wait(page.locator("#option-problem .problem")).to_contain_text("schema: expected YAML or JSON text")
    write_option(page, "schema", "total: mony")
    wait(page.locator("#option-problem .problem")).to_contain_text("did you mean 'money'?")


@pytest.mark.parametrize("space", ["bag_of_entities", "oinerval"], indirect=True)
def test_plain_text_is_taken_where_an_option_takes_json_too(page, space):
    edit(page, {"total": "LATTE"}, {"total": "latte"})
    wait(page.locator(".alignment").first).to_contain_text("latte")
    wait(headline(page, space)).not_to_have_text(space.perfect)
    write_option(page, "normalize", "casefold")
    wait(headline(page, space)).to_have_text(space.perfect)
    write_option(page, "normalize", "capitals")
    wait(page.locator("#option-problem .problem")).to_contain_text("normalize must be")


@pytest.mark.parametrize("space", ["kieval"], indirect=True)
def test_thresholds_draw_the_automation_curve(page, space):
    entities = [{"type": name, "value": name, "confidence": sure} for name, sure in (("a", 0.4), ("b", 0.9))]
    edit(page, entities, {"a": "A", "b": "b"})
    wait(page.locator(".alignment").first).to_contain_text("A")
    wait(page.locator(".chart")).to_have_count(0)
    write_option(page, "thresholds", "[0.9, 0, 0.5, 1]")
    wait(page.locator(".chart circle")).to_have_count(4)
    write_option(page, "thresholds", "auto")
    wait(page.locator(".chart circle")).to_have_count(3)
    wait(page.locator(".chart .mark")).to_have_count(0)
    write_option(page, "target_aligned", "0,98")
    wait(page.locator("#option-problem .problem")).to_contain_text("target_aligned must be a number in 0..1")
    write_option(page, "target_aligned", "0.98")
    wait(page.locator(".chart .mark")).to_have_count(1)


def test_copied_code_gives_the_downloaded_result(page, space, tmp_path):
    edit(page, '{"a": 4.50,\n "b": ["\\u00e9\\n", "x"]}', {"a": "4.5", "b": "x"})
    open_panel(page, "python")
    for typed in ('"a": 4.50,', '"a": "4.5", "b": "x"'):
        wait(page.locator("#code .cm-content")).to_contain_text(typed)
    result = download(page)
    page.locator("#code").get_by_label(re.compile("copy", re.IGNORECASE)).click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert run_code(copied) == result
    assert result["documents"] == 1


def run_code(code, folder=ROOT):
    code = code.replace("print(result)", "import json\nprint(json.dumps(result))")
    command = [sys.executable, "-c", code]
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


@pytest.fixture
def files(tmp_path):
    """A corpus of three documents; the second is wrong, and has a name that must not become markup."""
    references = {"first": {"total": "1"}, HOSTILE: {"total": "2"}, "third": {"total": "3", "row": [{"a": "x"}]}}
    predictions = references | {HOSTILE: {"total": "wrong"}}
    paths = []
    for name, documents in (("predictions.jsonl", predictions), ("references.jsonl", references)):
        lines = (json.dumps({"id": identifier, "document": document}) for identifier, document in documents.items())
        paths.append(tmp_path / name)
        paths[-1].write_text("\n".join(lines), "utf-8")
    return paths


def upload(page, *paths):
    page.get_by_role("tab", name="Files").click()
    wait(page.locator(".other-input")).to_contain_text("press Score the files")
    sides = dict(zip(("predictions", "references"), paths, strict=True))
    for side, path in sides.items():
        page.locator(f"#{side} input[type=file]").set_input_files(path)
    for side, path in sides.items():
        wait(page.locator(f"#{side}")).to_contain_text(path.stem)
    page.locator("#score-files").click()


def test_uploaded_corpus_is_scored_with_the_worst_documents_first(page, space, files):
    upload(page, *files)
    worst = page.locator(".document")
    wait(worst).to_have_count(3)
    wait(worst.first).to_contain_text(HOSTILE)
    wait(page.locator(".document .alignment").first).not_to_be_visible()
    worst.first.locator("summary").click()
    wait(worst.first.locator(".alignment")).to_contain_text("wrong")
    result = download(page)
    assert (result["documents"], len(result["per_document"])) == (3, 3)
    open_panel(page, "python")
    wait(page.locator("#code .cm-content")).to_contain_text("read_documents")
    page.locator("#code").get_by_label(re.compile("copy", re.IGNORECASE)).click()
    code = page.evaluate("navigator.clipboard.readText()")
    for path in files:
        code = code.replace(json.dumps(path.name), json.dumps(str(path)))
    assert run_code(code) == result
    page.get_by_role("tab", name="One document").click()
    wait(page.locator(".document")).to_have_count(0)


def test_report_of_files_tells_when_the_options_are_others(page, space, files):
    upload(page, *files)
    wait_until_current(page)
    wait(page.locator("#output .interval").first).to_contain_text("95 % within")
    schema = open_panel(page, "options").locator("#option-schema textarea").input_value()
    for text in ("total: mony", "total: string"):
        write_option(page, "schema", text)
        wait_until_of_other_input(page)
        wait(page.locator("#option-problem .problem")).to_have_count(int("mony" in text))
    open_panel(page, "python")
    write_option(page, "schema", schema)
    wait_until_current(page)
    page.get_by_label("0.99", exact=True).check()
    wait_until_of_other_input(page)
    page.locator("#score-files").click()
    wait_until_current(page)
    wait(page.locator("#output .interval").first).to_contain_text("99 % within")
    wait(page.locator("#code .cm-content")).to_contain_text("confidence_level=0.99")
    assert download(page)["documents"] == 3


def test_report_of_files_tells_when_the_files_are_others(page, space, files, tmp_path):
    upload(page, *files)
    wait_until_current(page)
    (tmp_path / "better.jsonl").write_bytes(files[1].read_bytes())
    page.locator("#predictions").get_by_label("Clear").click()
    wait_until_of_other_input(page)
    page.locator("#score-files").click()
    wait(page.locator("#file-problem .problem")).to_contain_text("give both files")
    page.locator("#predictions input[type=file]").set_input_files(tmp_path / "better.jsonl")
    wait(page.locator("#file-problem .problem")).to_have_count(0)
    wait_until_of_other_input(page)
    page.locator("#score-files").click()
    wait_until_current(page)
    wait(headline(page, space)).to_have_text(space.perfect)
    page.get_by_role("tab", name="One document").click()
    wait(page.locator(".document")).to_have_count(0)
    wait_until_current(page)
    page.get_by_role("tab", name="Files").click()
    wait_until_of_other_input(page)


def wait_until_current(page):
    wait(page.locator(".other-input")).to_have_count(0)
    wait(page.locator("#download")).to_be_enabled()
    wait(page.locator(".report")).to_have_css("opacity", "1")


def wait_until_of_other_input(page):
    wait(page.locator(".other-input")).to_be_visible()
    wait(page.locator("#download")).to_be_disabled()
    wait(page.locator(".report")).to_have_css("opacity", "0.5")


@pytest.mark.parametrize("space", ["entity_f1"], indirect=True)
def test_csv_files_are_scored(page, space):
    paths = [ROOT / "examples" / "invoices" / f"{side}.csv" for side in ("predictions", "references")]
    assert_scored_like_read_documents(page, space, paths, **space.declared.examples[0].options)


def test_files_of_tagged_words_are_scored(page, space, tmp_path):
    paths = [tmp_path / "predictions.iob", tmp_path / "references.iob"]
    paths[0].write_text("Jean B-name\nDuboi I-name\n\n1871 B-date\n")
    paths[1].write_text("Jean B-name\nDubois I-name\n\n1871 B-date\n")
    assert_scored_like_read_documents(page, space, paths)


def test_parquet_and_csv_files_are_scored(page, space, tmp_path):
    paths = [tmp_path / "predictions.parquet", tmp_path / "references.csv"]
    documents = ['{"name": "Jean Duboi", "date": "1871"}', '{"name": "Paul", "date": "1872"}']
    pq.write_table(pa.table({"id": ["a", "b"], "document": documents}), paths[0])
    paths[1].write_text("id,name,date\nb,Paul,1872\na,Jean Dubois,1871\n")
    assert_scored_like_read_documents(page, space, paths)


def assert_scored_like_read_documents(page, space, paths, **options):
    upload(page, *paths)
    page.locator(".document").first.wait_for()
    predictions, references, _ = pair_documents(*map(read_documents, paths))
    expected = space.metric.compute(predictions=predictions, references=references, **options)
    assert 0 < expected[space.headline] < 1
    wait(headline(page, space)).to_have_text(shown(expected, space.headline))
    assert download(page)["documents"] == len(references)


def test_broken_file_is_named_by_its_own_name_and_line(page, space, files):
    files[0].write_text('{"id": "first", "document": {}}\n{"id": \n')
    upload(page, *files)
    wait(page.locator("#file-problem .problem")).to_contain_text("Not scored. predictions.jsonl:2: ")


def test_upload_is_limited(page, space, tmp_path):
    big = tmp_path / "big.jsonl"
    big.write_text(json.dumps({"total": "x" * 21_000_000}))
    page.get_by_role("tab", name="Files").click()
    page.locator("#predictions input[type=file]").set_input_files(big)
    wait(page.get_by_text(re.compile("exceed|too large|maximum", re.IGNORECASE)).first).to_be_visible()


def test_api_scores_and_tells_errors(space, tmp_path):
    from gradio_client import Client
    from gradio_client.exceptions import AppError

    client = Client(space.url, verbose=False)
    prediction, reference = {"a": "1", "b": [{"c": "x"}]}, {"a": "1", "b": [{"c": "y"}]}
    answer = client.predict(prediction, reference, {"per_type": True}, api_name="/score")
    assert answer == space.metric.compute(predictions=[prediction], references=[reference], per_type=True)
    assert (
        client.predict(json.dumps(prediction), reference, api_name="/score")[space.headline] == answer[space.headline]
    )
    with pytest.raises(AppError, match=r'predictions\[0\]\["a"\]\[0\]: expected a text'):
        client.predict({"a": [[1]]}, reference, api_name="/score")
    (tmp_path / "schema.yaml").write_text("a: string\n")
    with pytest.raises(AppError, match="schema: expected YAML or JSON text"):
        client.predict(prediction, reference, {"schema": str(tmp_path / "schema.yaml")}, api_name="/score")
    with pytest.raises(AppError, match="no option 'colour'"):
        client.predict(prediction, reference, {"colour": 1}, api_name="/score")
    assert [endpoint for endpoint in client.view_api(return_format="dict")["named_endpoints"]] == ["/score"]


def test_files_of_the_host_stay_closed(space, files):
    """Neither served, nor read where a request pretends that they were uploaded."""
    assert httpx.get(f"{space.url}/gradio_api/file={files[0]}").status_code == 403
    button = next(
        dependency
        for dependency in httpx.get(f"{space.url}/config").json()["dependencies"]
        if dependency["api_name"] == "_score_files"
    )
    forged = [{"path": str(path), "orig_name": path.name, "meta": {"_type": "gradio.FileData"}} for path in files]
    options = [option.default for option in space.declared.all_options]
    request = {"data": [*forged, 0.95, *options], "fn_index": button["id"], "session_hash": "forged"}
    httpx.post(f"{space.url}/gradio_api/queue/join", json=request).raise_for_status()
    with httpx.stream("GET", f"{space.url}/gradio_api/queue/data?session_hash=forged", timeout=20) as messages:
        answers = (json.loads(line.removeprefix("data:")) for line in messages.iter_lines() if line)
        answer = next(answer for answer in answers if answer["msg"] == "process_completed")
    assert (answer["success"], answer["output"]) == (False, {"error": None})


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_text_has_enough_contrast_and_fits_a_phone(space, browser, colours):
    """WCAG AA: 4.5 to 1, and 3 to 1 for large text."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=colours)
    page = context.new_page()
    page.goto(space.url)
    page.locator(".report").wait_for()
    open_panel(page, "options")
    wait(page.locator("#option-schema")).to_be_visible()
    too_faint = page.evaluate(CONTRAST)
    width = page.evaluate("document.documentElement.scrollWidth")
    footer = page.locator("footer").inner_text().strip()
    context.close()
    assert too_faint == []
    assert width <= 390
    assert footer == "Use via API"


CONTRAST = """() => {
  const context = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1); context.fillStyle = colour; context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const background = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = rgba(getComputedStyle(e).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const element of document.querySelectorAll("header *, .report *, #input *, #output button")) {
    const own = [...element.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join("");
    if (!own || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const colour = element instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [luminance(rgba(colour)), luminance(background(element))].sort((x, y) => y - x);
    const large = parseFloat(style.fontSize) >= 24;
    if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5)) faint.push(`${own.slice(0, 40)}: ${colour}`);
  }
  return faint;
}"""


def test_example_is_chosen_with_the_keyboard(page, space):
    """Tab to the examples, an arrow to the next one and back, without the mouse."""
    first, second = space.declared.examples[:2]
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('#examples input')"):
            break
    for key, example in (("ArrowRight", second), ("ArrowLeft", first)):
        page.keyboard.press(key)
        wait(page.get_by_label(example.title, exact=True)).to_be_focused()
        wait_for_scores(page, space, example)


def test_keyboard_focus_is_visible(page, space):
    seen = []
    for _ in range(12):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                """() => {
                    const e = document.activeElement;
                    const looks = [e, e.closest("label") || e].map((x) => getComputedStyle(x));
                    const isSeen = (s) => s.outlineStyle === "solid" && parseFloat(s.outlineWidth) >= 2;
                    return [e.tagName, looks.some(isSeen)];
                }"""
            )
        )
    assert {tag for tag, _ in seen} >= {"A", "BUTTON", "INPUT", "TEXTAREA"}
    assert [tag for tag, is_visible in seen if not is_visible and tag != "BODY"] == []
