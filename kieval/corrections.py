"""What KIEval counts: matches and corrections per entity type, groups per group type, and confidences."""

import numpy as np
import pyarrow as pa

from .counts import family, sum_by
from .groups import pair_groups
from .matching import common_runs, identify, match_entities, match_nearest

MATCH, SUBSTITUTE, DELETE = 0, 1, 2


class Corrections:
    """Paired groups and matched entities of a batch, and what is counted from them."""

    def __init__(self, batch, schema, confidence_matters=False):
        self.batch = batch
        self.identity = identify(batch, schema)
        self.pairing = pair_groups(batch, self.identity, confidence_matters)
        predictions, references = batch.sides
        self.pairs = (
            self.pairing.predictions[predictions.entity_group],
            self.pairing.references[references.entity_group],
        )
        preference = None
        if confidence_matters:
            order = np.lexsort((predictions.entity_value, -predictions.confidence))
            preference = np.argsort(order)
        self.matched = match_entities(batch, self.identity, *self.pairs, preference)

    def counts(self):
        batch, documents = self.batch, self.batch.documents
        types = max(len(batch.entity_types), 1)
        cells = self._count_pairs_and_types()
        pair, entity_type = np.divmod(cells.pop("pair_and_type"), types)
        document = self._of_pair("group_document", np.arange(documents))[pair]
        key, entities = sum_by(document * types + entity_type, cells)
        document = key // types
        corrections = entities["substitutions"] + entities["additions"] + entities["deletions"]
        entities["flat_true_positives"] = self._flat_matches(key, types)
        entities["documents"] = np.ones_like(key)
        entities["right_documents"] = (corrections == 0).astype(np.int64)
        groups = self._count_groups()
        is_right = np.ones(documents, np.int64)
        is_right[document[corrections > 0]] = 0
        is_right[
            groups["document"][(groups["right"] < groups["predicted"]) | (groups["right"] < groups["reference"])]
        ] = 0
        return {
            "right_documents": is_right,
            "entities": family(documents, document, key % types, batch.entity_types, entities),
            "groups": family(documents, groups.pop("document"), groups.pop("type"), batch.group_types, groups),
        }

    def _count_pairs_and_types(self):
        """Matches and corrections of each entity type in each pair."""
        types = max(len(self.batch.entity_types), 1)
        keys = [pair * types + side.entity_type for pair, side in zip(self.pairs, self.batch.sides, strict=True)]
        cells = np.unique(np.concatenate(keys))
        predicted, reference, matches = (
            np.bincount(np.searchsorted(cells, of), minlength=len(cells))
            for of in (keys[0], keys[1], keys[0][self.matched[0]])
        )
        substitutions = np.minimum(predicted, reference) - matches
        return {
            "pair_and_type": cells,
            "predicted": predicted,
            "reference": reference,
            "true_positives": matches,
            "substitutions": substitutions,
            "additions": reference - matches - substitutions,
            "deletions": predicted - matches - substitutions,
        }

    def _flat_matches(self, document_and_type, types):
        """Matches of each type in each document when groups are ignored."""
        predictions, references = self.batch.sides
        documents = (predictions.entity_document, references.entity_document)
        matched, _ = match_entities(self.batch, self.identity, *documents)
        keys = documents[0][matched] * types + predictions.entity_type[matched]
        return np.bincount(np.searchsorted(document_and_type, keys), minlength=len(document_and_type))

    def _count_groups(self):
        pairing, documents = self.pairing, self.batch.documents
        size = [np.bincount(pair, minlength=pairing.pairs) for pair in self.pairs]
        matches = np.bincount(self.pairs[0][self.matched[0]], minlength=pairing.pairs)
        has = [np.bincount(groups, minlength=pairing.pairs) > 0 for groups in (pairing.predictions, pairing.references)]
        is_right = has[0] & has[1] & (matches == size[0]) & (matches == size[1])
        document = self._of_pair("group_document", np.arange(documents))
        group_type = self._of_pair("group_type", np.zeros(documents, np.int64))
        types = max(len(self.batch.group_types), 1)
        counts = {"predicted": has[0], "reference": has[1], "paired": has[0] & has[1], "right": is_right}
        grouped = slice(documents, None)
        key, groups = sum_by(
            (document * types + group_type)[grouped], {name: values[grouped] for name, values in counts.items()}
        )
        return {"document": key // types, "type": key % types, **groups}

    def _of_pair(self, column, first):
        """A property of the groups for each pair, given that of the documents' own pairs."""
        values = np.concatenate([first, np.zeros(self.pairing.pairs - len(first), np.int64)])
        for side, pair in zip(self.batch.sides, (self.pairing.predictions, self.pairing.references), strict=True):
            grouped = pair >= len(first)
            values[pair[grouped]] = getattr(side, column)[grouped]
        return values

    def confidences(self):
        """Confidence and operation of every predicted entity, per document."""
        predictions = self.batch.predictions
        entries = pa.StructArray.from_arrays(
            [pa.array(predictions.confidence), pa.array(self._operations())], ["confidence", "operation"]
        )
        sizes = np.bincount(predictions.entity_document, minlength=self.batch.documents)
        return pa.ListArray.from_arrays(pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int32()), entries)

    def _operations(self):
        """What a person does with each predicted entity."""
        types = max(len(self.batch.entity_types), 1)
        keys = [pair * types + side.entity_type for pair, side in zip(self.pairs, self.batch.sides, strict=True)]
        operations = np.full(len(keys[0]), SUBSTITUTE, np.int8)
        operations[self.matched[0]] = MATCH
        cells = self._count_pairs_and_types()
        has_deletions = np.isin(keys[0], cells["pair_and_type"][cells["deletions"] > 0])
        wrong = np.flatnonzero((operations == SUBSTITUTE) & has_deletions)
        missing = np.setdiff1d(np.arange(len(keys[1])), self.matched[1])
        operations[wrong] = DELETE
        for some, others in common_runs(keys[0][wrong], keys[1][missing]):
            operations[self._nearest(wrong[some], missing[others])] = SUBSTITUTE
        return operations

    def _nearest(self, wrong, missing):
        """The wrong predictions that are nearest to the missing values, of as many as can be."""
        predictions, references = self.batch.sides
        wrong = wrong[np.lexsort((-predictions.confidence[wrong], predictions.entity_value[wrong]))]
        missing = missing[np.argsort(references.entity_value[missing], kind="stable")]
        texts = [
            self.batch.values.take(pa.array(side.entity_value[some])).to_pylist()
            for side, some in ((predictions, wrong), (references, missing))
        ]
        return wrong[match_nearest(*texts)[0]]
