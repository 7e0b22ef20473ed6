"""A multiverse would blame the wrong decision for a result, or count the same analysis twice."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias._support.phrases import figure as figure_of
from bayesbias.distances.list_coverage import HeldWords
from bayesbias.errors import InputError
from bayesbias.numerics.second_stage import Decisions
from bayesbias.second_stage.combinations import _holding_notes
from bayesbias.second_stage.specifications import DRAWS, STANDARD_WIDTH, multiverse_of

SLICE = "google-news-slice"
WEAT7 = Path(__file__).parents[2] / "data" / "words" / "weat7.toml"
PLAN = {"embedding": [SLICE], "words": ["weat7"]}
BOTH = ["associated - different", "associated - human"]


def multiverse(decisions, out=None, **fields):
    return bb.multiverse({"decisions": decisions, "replicates": 0, **fields}, out)


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """The list weat7 under another name."""
    return shutil.copy(WEAT7, tmp_path_factory.mktemp("lists") / "again.toml")


@pytest.fixture(scope="module")
def vectors(random_embedding, tmp_path_factory):
    """Two files of random vectors of the words of weat7."""
    folder = tmp_path_factory.mktemp("vectors")
    for number in range(2):
        kv = random_embedding(bb.load_words("weat7"), number)
        kv.save_word2vec_format(folder / f"v{number}.bin", binary=True)
    return [str(folder / f"v{number}.bin") for number in range(2)]


@pytest.fixture(scope="module")
def decisions(vectors):
    return {
        "embedding": {"options": vectors, "status": "unsure"},
        "words": ["weat7"],
        "centre": {"options": ["none", "vocabulary"], "status": "arbitrary"},
        "contrast": {"options": ["associated - different", "associated - human"], "status": "principled"},
        "metric": ["contrast", "weat"],
    }


@pytest.fixture(scope="module")
def found(decisions):
    return multiverse(decisions, replicates=40)


def made_up(rng, shape=(3, 4), correlation=0.7):
    """Specifications of two crossed decisions, with dense errors."""
    grid = pd.DataFrame([(f"a{i}", f"b{j}") for i in range(shape[0]) for j in range(shape[1])], columns=["a", "b"])
    sd = rng.uniform(0.05, 0.15, len(grid))
    same = correlation + (1 - correlation) * np.eye(len(grid))
    return grid.assign(status="done", reason=""), np.outer(sd, sd) * same


def result_of(specifications, y, covariance, seed=0, decisions=("a", "b")):
    statuses = dict.fromkeys(decisions, "unsure")
    return multiverse_of(specifications, statuses, y, covariance, np.empty((0, len(y))), True, seed)


@pytest.mark.parametrize(
    ("effect", "begins", "moved"),
    [
        (0.3, ("All 12 estimates are negative; 12 of 12", "The sign is the same under all choices."), True),
        (
            3.0,
            ("8 of 12 estimates are negative and 4 are positive; 12 of 12", "The sign depends on the choices."),
            True,
        ),
        (0.0, ("All 12 estimates are negative; 12 of 12", "The sign is the same under all choices."), False),
    ],
)
def test_the_headline_says_if_the_answer_depends_on_the_choices_and_by_how_much(effect, begins, moved):
    rng = np.random.default_rng(2)
    grid, covariance = made_up(rng)
    covariance *= 0.01
    y = -1.5 + effect * grid["a"].map({"a0": 0.0, "a1": 0.2, "a2": 1.0}) + 0.002 * rng.standard_normal(12)
    answer = result_of(grid, y.to_numpy(), covariance).findings()[0]
    assert answer.startswith("{} intervals exclude 0. {} The mean over 12 different".format(*begins))
    assert "which excludes 0; negative: associated words are closer)." in answer
    assert ("The choice of a moves the answer most" in answer) == moved
    assert ("standard deviations of distances higher with a2 than with a0 (89% interval 0." in answer) == (
        effect == 0.3
    )


def test_a_word_that_is_left_out_is_said_to_be():
    grid, covariance = made_up(np.random.default_rng(2))
    grid = grid.rename(columns={"a": "without"}).replace("a0", "none")
    y = -1.5 + 0.3 * grid["without"].map({"none": 0.0, "a1": 0.2, "a2": 1.0})
    answer = result_of(grid, y.to_numpy(), 0.01 * covariance, decisions=("without", "b")).findings()[0]
    assert "standard deviations of distances higher without a2 than with all words (89% interval 0." in answer


def test_words_of_the_lists_are_counted_apart_from_control_words():
    counts = {"a": (10, 10, 5, 8), "b": (9, 10, 8, 8), "c": (10, 10, 8, 8)}
    found = [("news", name, HeldWords(*each)) for name, each in counts.items()]
    assert _holding_notes(found) == [
        "news holds 90% of the words of b and 8 of 8 control words, news holds all words of a and 5 of 8 control words."
    ]
    assert _holding_notes(found[2:]) == []


def test_control_words_are_those_of_the_contrast():
    assert not any("control word" in note for note in multiverse(PLAN).notes)
    # of several contrasts the one that lacks most is named
    assert (
        f"{SLICE} holds all words of weat7 and 64 of 85 control words." in multiverse({**PLAN, "contrast": BOTH}).notes
    )


class TestDuplicates:
    def test_a_list_twice_changes_nothing(self, copied):
        own = {**PLAN, "contrast": BOTH, "metric": ["contrast", "weat"]}
        once, twice = multiverse(own), multiverse({**own, "words": ["weat7", copied]})
        assert len(once.distinct) == len(twice.distinct) == 2
        pd.testing.assert_frame_equal(twice.means(), once.means(), atol=1e-8, rtol=0)
        np.testing.assert_allclose(twice.draws("theta"), once.draws("theta"), rtol=0, atol=1e-8)
        shares, expected = (each.shares().set_index("decision")["mean"] for each in (twice, once))
        assert shares["words"] == 0
        np.testing.assert_allclose(shares.drop("words"), expected[shares.drop("words").index], rtol=0, atol=1e-8)
        assert twice.effects().set_index("decision").loc["words", "mean"].tolist() == [0, 0]

    def test_a_few_of_many_twice_change_nothing(self):
        rng = np.random.default_rng(1)
        grid, covariance = made_up(rng)
        y = rng.multivariate_normal(np.zeros(12), covariance)
        rows = [*range(12), 3, 3]
        twice = result_of(grid.iloc[rows].reset_index(drop=True), y[rows], covariance[np.ix_(rows, rows)])
        once = result_of(grid, y, covariance)
        for one, other in ((twice.shares(), once.shares()), (twice.effects(), once.effects())):
            pd.testing.assert_frame_equal(one, other, atol=1e-8, rtol=0)
        pd.testing.assert_frame_equal(twice.means(), once.means(), atol=1e-8, rtol=0)


class TestCovariance:
    @pytest.mark.parametrize("second", ["different", "human"])
    def test_one_specification_is_a_fit(self, second):
        own = multiverse({**PLAN, "contrast": [f"associated - {second}"]}).specifications
        row = bb.contrasts(bb.fit(bb.distance_table(SLICE, "weat7"), seed=0), "associated", second).iloc[0]
        assert own["estimate"][0] == pytest.approx(row["mean"], abs=1e-7)
        # a fit integrates over the factor of its errors, where this takes its root mean square; its sd is of draws
        assert own["se"][0] == pytest.approx(row["sd"], rel=0.02)

    def test_of_one_embedding_it_is_that_of_its_distances(self):
        own = multiverse({**PLAN, "contrast": [*BOTH, "different - human", "associated - neutral"]})
        estimate, variance = own.specifications["estimate"], own.covariance
        # a - d and d - h add up to a - h, and so do their errors
        assert estimate[0] + estimate[2] == pytest.approx(estimate[1], abs=1e-12)
        total = variance[0, 0] + variance[2, 2] + 2 * variance[0, 2]
        assert total == pytest.approx(variance[1, 1], rel=1e-6)
        assert np.linalg.eigvalsh(variance).min() > -1e-10 * variance.max()

    def test_weights_of_metrics_are_differences_of_means(self, found):
        table = found.specifications
        impossible = table["metric"].eq("weat") & table["contrast"].str.endswith("human")
        assert (table.loc[impossible, "status"] == "impossible").all()
        done = table[table["status"] == "done"].pivot_table(
            "estimate", ["embedding", "centre", "contrast"], "metric", sort=False
        )
        np.testing.assert_allclose(done.dropna()["weat"], done.dropna()["contrast"], rtol=1e-9)


@pytest.fixture
def compiled(tmp_path):
    """A function that writes the list weat7 with sources of its words: all are the first's, but for those named."""

    def write(name, source="", **sources):
        text = WEAT7.read_text(encoding="utf-8")
        text = text.replace('source = "Caliskan, Bryson and Narayanan (2017)"', f'source = "{source}"')
        lines = [text, "[sources]", *(f"{key} = {json.dumps(words)}" for key, words in sources.items())]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
        return str(tmp_path / name)

    return write


@pytest.fixture
def random_plan(vectors):
    return {"embedding": vectors[:1], "words": ["weat7"]}


class TestSources:
    def test_each_is_left_out(self, random_plan, compiled, tmp_path):
        words = compiled("own.toml", "others", first=["he", "she", "man"], second=["man", "son", "daughter"])
        rows = multiverse({**random_plan, "words": [words], "without": ["each source"]}).specifications
        # man has two sources, and stays without either
        rest = ["male", "boy", "brother", "him", "his", "female", "woman", "girl", "sister", "her", "hers"]
        without = {"first": ["he", "she"], "second": ["son", "daughter"], "others": rest}
        assert rows["without"].tolist() == ["none", *(f"source: {source}" for source in without)]
        lists = bb.load_words("weat7")
        for estimate, words_out in zip(rows["estimate"][1:], without.values(), strict=True):
            kept = {group: [w for w in own if w not in words_out] for group, own in lists.stereotypes.items()}
            lines = ['name = "own"']
            for part, groups in (("protected", lists.protected), ("stereotypes", kept)):
                lines += [f"[{part}]", *(f"{group} = {json.dumps(own)}" for group, own in groups.items())]
            (tmp_path / "part.toml").write_text("\n".join(lines), encoding="utf-8")
            part = multiverse({**random_plan, "words": [str(tmp_path / "part.toml")]})
            assert estimate == pytest.approx(part.specifications["estimate"][0], abs=1e-12)

    def test_a_source_of_all_words_cannot_be_left_out(self, random_plan):
        found = multiverse({**random_plan, "words": ["weat7", "weat8"], "without": ["none", "each source"]})
        rows = found.specifications.set_index("without").loc["source: Caliskan, Bryson and Narayanan (2017)"]
        assert rows["status"].tolist() == ["impossible"] * 2
        assert "no stereotype of 'arts' is left" in rows["reason"].iloc[0]

    def test_of_another_list_it_is_impossible(self, random_plan, compiled):
        words = [compiled("a.toml", first=["he", "she"]), compiled("b.toml", second=["him", "her"])]
        rows = multiverse({**random_plan, "words": words, "without": ["source: second"]}).specifications
        assert rows["status"].tolist() == ["impossible", "done"]
        assert "'source: second'" in rows["reason"][0]

    def test_refused(self, compiled):
        words = compiled("a.toml", "others", first=["he", "she"])
        with pytest.raises(InputError, match="no list has the source 'third': the sources are first, others"):
            multiverse({**PLAN, "words": [words], "without": ["source: third"]})
        with pytest.raises(InputError, match="the source 'first' gives tulip, in no list"):
            bb.load_words(compiled("b.toml", first=["he", "tulip"]))


AXIS = {"axis": "gender_pairs", "groups": ["math", "arts"]}


@pytest.fixture(scope="module")
def of_axis():
    own = {**PLAN, "without": ["none", "he"], "contrast": ["associated - different", AXIS]}
    return multiverse(own, replicates=200, standardise=False)


class TestAxes:
    @pytest.mark.parametrize("left_out", ["none", "he"])
    def test_it_is_half_of_the_difference_of_mean_places(self, of_axis, left_out):
        kv, lists = bb.load_embedding(SLICE), bb.load_words("weat7")
        pairs = [pair for pair in bb.load_list("gender_pairs").pairs if left_out not in pair]
        math, arts = ([word for word in words if word in kv] for words in lists.protected.values())
        row = bb.axis(kv, pairs, words=[*math, *arts]).contrast(math, arts).iloc[0]
        own = of_axis.specifications.set_index(["without", "contrast"]).loc[(left_out, "gender_pairs: math - arts")]
        assert own["estimate"] == pytest.approx(row["mean"] / 2, abs=1e-7)
        # over oppositions: the axis reads its factor off the scatter of the pairs, this one off the words of the poles
        assert own["se"] == pytest.approx(row["sd"] / 2, rel=0.15)

    def test_random_topics_vary_on_it_as_between_lists(self, of_axis):
        ratios = of_axis.null.std(axis=0) / of_axis.distinct["se"]
        lists, axis = (of_axis.distinct["contrast"].str.startswith(name) for name in ("associated", "gender_pairs"))
        assert ratios[axis].mean() == pytest.approx(ratios[lists].mean(), rel=0.25)

    def test_its_errors_are_those_of_the_words_that_lists_share(self, tmp_path):
        # pairs of the words of the stereotypes are the stereotypes
        pairs = list(zip(*bb.load_words("weat7").stereotypes.values(), strict=True))
        lines = ['kind = "pairs"', 'name = "own"', f"pairs = {json.dumps(pairs)}"]
        (tmp_path / "own.toml").write_text("\n".join(lines), encoding="utf-8")
        lines = [f'decisions.embedding = ["{SLICE}"]', 'decisions.words = ["weat7"]', "replicates = 0"]
        axis = '{axis = "own.toml", groups = ["math", "arts"]}'
        lines.append(f'decisions.contrast = ["associated - different", {axis}]')
        (tmp_path / "plan.toml").write_text("\n".join(lines), encoding="utf-8")
        own, again = (bb.multiverse(tmp_path / "plan.toml", tmp_path / "out") for _ in range(2))
        assert own.specifications["same_as"].tolist() == [pd.NA, 0]
        table = own.table().set_index("number")
        assert table.loc[table.loc[1, "same_as"], "estimate"] == pytest.approx(table.loc[1, "estimate"], abs=1e-12)
        assert own.specifications["contrast"][1] == "own.toml: math - arts"
        pd.testing.assert_frame_equal(again.table(), own.table())

    def test_impossible(self):
        own = {**PLAN, "words": ["weat7", "weat8"], "without": ["none", "sister"]}
        rows = multiverse({**own, "contrast": [AXIS], "metric": ["contrast", "weat"]}).specifications
        assert rows["status"].tolist() == ["done", "impossible"] * 2 + ["impossible"] * 4
        assert rows["reason"][1] == "weat takes no axis: its contrast is associated - different"
        assert "weat8 has no group 'math'" in rows["reason"][4]


@pytest.fixture
def of_four_options():
    """A function from a seed to twelve values of four options, their covariance, and the draws of the model."""

    def make(seed):
        rng = np.random.default_rng(seed)
        _, covariance = made_up(rng, (4, 3))
        member = np.repeat(np.eye(4), 3, axis=0)
        y = member @ [-0.3, 0.0, 0.15, 0.3] + rng.multivariate_normal(np.zeros(12), covariance)
        # deviations of the options' means, whose errors are known; one more of them is minus their sum
        means = (np.eye(4) - 1 / 4)[:3] @ member.T / 3
        drawn = Decisions(y, covariance, [member], STANDARD_WIDTH).draw(20_000, rng)
        return means @ y, means @ covariance @ means.T, drawn

    return make


class TestModel:
    def test_it_agrees_with_quadrature(self, of_four_options):
        values, errors, own = of_four_options(2)
        tau = STANDARD_WIDTH * np.tan(np.pi / 2 * (np.arange(4000) + 0.5) / 4000)
        prior = tau[:, None, None] ** 2 * (np.eye(4) - 1 / 4)[:3, :3]
        total = prior + errors
        solved = np.linalg.solve(total, np.tile(values[:, None], (4000, 1, 1)))
        log = -0.5 * (np.linalg.slogdet(total)[1] + (values @ solved)[:, 0])
        mass = np.exp(log - log.max())
        mass /= mass.sum()
        effects = (prior @ solved)[..., 0]
        mean = mass @ effects
        within = np.diagonal(prior - prior @ np.linalg.solve(total, prior), axis1=1, axis2=2)
        sd = np.sqrt(mass @ (within + effects**2) - mean**2)
        np.testing.assert_allclose(own.effects[:, :3].mean(axis=0), mean, atol=0.05 * sd.max())
        np.testing.assert_allclose(own.effects[:, :3].std(axis=0), sd, rtol=0.03)
        middle = tau[np.searchsorted(np.cumsum(mass), 0.5)]
        assert np.median(own.scales[:, 0]) == pytest.approx(middle, rel=0.05)

    @pytest.mark.nuts
    @pytest.mark.full
    def test_nuts_agrees(self, of_four_options):
        import pymc as pm

        values, errors, own = of_four_options(3)
        with pm.Model():
            tau = pm.HalfCauchy("tau", STANDARD_WIDTH)
            centring = (np.eye(4) - 1 / 4)[:3]
            effect = pm.Deterministic("effect", pm.math.dot(centring, tau * pm.Normal("a", shape=4)))
            pm.MvNormal("y", effect, cov=errors, observed=values)
            found = pm.sample(6000, tune=2000, chains=2, cores=1, target_accept=0.99, random_seed=1, progressbar=False)
        theirs, ours = found["posterior"]["effect"].to_numpy().reshape(-1, 3), own.effects[:, :3]
        assert (np.abs(ours.mean(0) - theirs.mean(0)) / theirs.std(0)).max() < 0.1
        np.testing.assert_allclose(ours.std(0), theirs.std(0), rtol=0.1)

    def test_an_option_that_scales_does_not_tell_the_errors(self):
        rng = np.random.default_rng(5)
        grid, covariance = made_up(rng, (2, 6), 0.0)
        factor = np.repeat([1.0, 0.9], 12)
        y = 0.8 * np.tile([-1, -1, -1, 1, 1, 1], 2) + rng.multivariate_normal(np.zeros(12), covariance)
        both = pd.concat([grid.assign(c="one"), grid.assign(c="scaled")], ignore_index=True)
        known = np.tile(covariance, (2, 2)) * np.outer(factor, factor)
        own = result_of(both, factor * np.tile(y, 2), known, decisions=["a", "b", "c"])
        alone = result_of(grid, y, covariance)
        effects, expected = (each.effects().set_index("decision").loc["b"] for each in (own, alone))
        np.testing.assert_allclose(effects["mean"], 0.95 * expected["mean"], atol=0.02)
        np.testing.assert_allclose(effects["sd"], 0.95 * expected["sd"], rtol=0.15)
        assert own.shares().set_index("decision").loc["b", "mean"] > 0.9

    def test_planted_effects_are_held(self, sized):
        rng, count = np.random.default_rng(4), sized(400, 30)
        grid, covariance = made_up(rng, (3, 4))
        designs = [pd.get_dummies(grid[name], dtype=float).to_numpy() for name in ("a", "b")]
        held = {"effects": [], "shares": [], "theta": [], "mean": []}
        for replicate in range(count):
            tau = STANDARD_WIDTH * np.abs(rng.standard_cauchy(3))
            theta = tau[2] * rng.standard_normal(12)
            for sd, design in zip(tau, designs, strict=False):
                theta = theta + design @ (sd * rng.standard_normal(design.shape[1]))
            # what an option adds to the mean of these specifications
            effects = [design.T @ theta / design.sum(axis=0) - theta.mean() for design in designs]
            parts = [design @ own for design, own in zip(designs, effects, strict=True)]
            parts.append(theta - theta.mean() - sum(parts))
            own = result_of(grid, rng.multivariate_normal(theta, covariance), covariance, replicate)
            variances = np.array([part.var() for part in parts])
            for name, truth, drawn in (
                ("effects", np.concatenate(effects), own.draws("effect")),
                ("shares", variances / variances.sum(), own.draws("share")),
                ("theta", theta, own.draws("theta")),
            ):
                low, high = np.quantile(drawn, [0.055, 0.945], axis=0)
                held[name].append(np.mean((low <= truth) & (truth <= high)))
            row = own.means().iloc[0]
            held["mean"].append(row["low"] <= theta.mean() <= row["high"])
        for name, values in held.items():
            # four standard errors of a mean of replicates
            assert np.mean(values) == pytest.approx(0.89, abs=4 * np.std(values) / np.sqrt(count) + 0.01), name

    def test_spreads_are_those_of_effects_and_p_is_that_of_topics(self, found):
        rows = found.spreads().set_index("decision")
        for name in ("embedding", "centre", "contrast"):
            # by hand: means of the options' estimates, in this balanced design of decisions that matter
            table = found.distinct
            own = table.groupby(name)["estimate"].transform("mean").std(ddof=0)
            assert rows.loc[name, "observed"] == pytest.approx(own, rel=1e-6)
            null = [
                pd.Series(curve, table.index).groupby(table[name]).transform("mean").std(ddof=0) for curve in found.null
            ]
            assert rows.loc[name, "topics"] == pytest.approx(np.mean(null), rel=1e-6)
            count = sum(each >= rows.loc[name, "observed"] for each in null)
            assert rows.loc[name, "p_value"] == (1 + count) / (1 + len(null))
        # a decision that changes nothing has no effect, and no p
        assert rows.loc["metric", ["mean", "observed"]].tolist() == pytest.approx([0, 0], abs=1e-9)
        assert np.isnan(rows.loc["metric", "p_value"])
        said = str(found)
        assert said.index("How far each decision moves the answer") < said.index("Shares of the variance")

    def test_shares_add_up_and_effects_are_deviations(self, found):
        np.testing.assert_allclose(found.draws("share").sum(axis=1), 1, atol=1e-12)
        rows = found.distinct
        for name in found.decisions["decision"]:
            effects = found.effects().query("decision == @name").set_index("option")["mean"]
            assert effects.reindex(rows[name].astype(str)).mean() == pytest.approx(0, abs=1e-10)


class TestRuns:
    def test_it_goes_on_where_it_was(self, decisions, tmp_path):
        own = {**decisions, "metric": ["contrast"]}
        first = multiverse(own, tmp_path / "out")
        files = sorted((tmp_path / "out" / "variants").glob("*.npz"))
        times = {file: file.stat().st_mtime_ns for file in files}
        assert len(files) == 4
        (tmp_path / "out" / "records" / f"{files[1].stem}.json").unlink()
        files[2].write_bytes(b"half")
        again = multiverse(own, tmp_path / "out")
        assert {file for file in files if file.stat().st_mtime_ns != times[file]} == {files[1], files[2]}
        pd.testing.assert_frame_equal(again.table(), first.table())

    @pytest.mark.parametrize("kind", ["threads", pytest.param("dask", marks=pytest.mark.full)])
    def test_workers_change_nothing(self, decisions, found, kind):
        plan = {"decisions": decisions, "replicates": 40}
        if kind == "threads":
            with ThreadPoolExecutor(2) as executor:
                again = bb.multiverse(plan, executor=executor)
        else:
            distributed = pytest.importorskip(
                "distributed", reason="needs the extra distributed: uv sync --extra distributed"
            )
            with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
                again = bb.multiverse(plan, executor=cluster.scheduler_address)
        pd.testing.assert_frame_equal(again.table(), found.table())
        np.testing.assert_array_equal(again.null, found.null)

    def test_each_embedding_is_loaded_once(self, decisions, vectors, monkeypatch):
        import bayesbias.second_stage.decisions as measures

        names, load = [], measures.load_embedding
        monkeypatch.setattr(measures, "load_embedding", lambda name: names.append(name) or load(name))
        multiverse({**decisions, "centre": ["none", "vocabulary"]})
        assert names == vectors

    def test_another_plan_needs_another_folder(self, random_plan, tmp_path):
        multiverse(random_plan, tmp_path)
        with pytest.raises(InputError, match="another"):
            multiverse({**random_plan, "words": ["weat8"]}, tmp_path)

    def test_a_failed_embedding_stays_in_the_table(self, vectors, tmp_path, monkeypatch):
        import bayesbias.second_stage.decisions as measures

        plan, whole = {"embedding": vectors, "words": ["weat7"]}, measures._vectors

        def broken(settings, loaded):
            if settings["embedding"] == vectors[1]:
                raise MemoryError("no memory")
            return whole(settings, loaded)

        with monkeypatch.context() as patch:
            patch.setattr(measures, "_vectors", broken)
            found = multiverse(plan, tmp_path)
        assert found.specifications["status"].tolist() == ["done", "failed"]
        assert "no memory" in found.specifications["reason"][1]
        assert "1 failed" in found.text()
        assert multiverse(plan, tmp_path).specifications["status"].tolist() == ["done", "failed"]
        again = bb.multiverse({"decisions": plan, "replicates": 0}, tmp_path, retry=True)
        assert again.specifications["status"].tolist() == ["done", "done"]

    def test_impossible_combinations_say_why(self, random_plan):
        own = {**random_plan, "without": ["none", "female", "tulip"], "contrast": [BOTH[0], "associated - flowers"]}
        table = multiverse(own).specifications.set_index(["without", "contrast"])
        assert table.loc[("none", BOTH[0]), "status"] == "done"
        assert table["status"].value_counts().to_dict() == {"impossible": 4, "done": 2}
        assert "'flowers'" in table.loc[("none", "associated - flowers"), "reason"]
        assert "'tulip'" in table.loc[("tulip", BOTH[0]), "reason"]

    def test_a_decision_that_could_not_be_varied_moves_nothing_known(self, random_plan):
        found = multiverse({**random_plan, "words": ["weat7", "weat8"], "without": ["none", "tulip"]})
        said = "How without moves the answer is not known: of its 2 options only “none” could be computed."
        assert found.findings()[-1] == said
        assert found.spreads().set_index("decision").loc["without", ["mean", "observed"]].isna().all()
        assert "without" not in found.findings()[0]

    def test_one_specification(self, random_plan):
        own = multiverse(random_plan, replicates=20)
        assert len(own.table()) == 1
        assert own.shares()["mean"].tolist() == [0, 0, 0]
        assert len(own.against_topics()) == 2


def test_null_is_of_the_specifications(found):
    assert found.null.shape == (40, len(found.distinct))
    table = found.against_topics()
    assert table["p_value"].between(1 / 41, 1).all()
    np.testing.assert_allclose(table["p_value"], (1 + table["as_extreme"]) / 41)


@pytest.mark.parametrize(
    ("change", "fields", "message"),
    [
        ({"colour": ["red"]}, {}, "a decision is 'colour': valid are embedding"),
        ({"embedding": []}, {}, r"the plan: embedding: options is \(\): the list should have at least 1 item"),
        ({"embedding": None}, {}, "give the options of the decision 'embedding'"),
        ({"case": ["as-is", "as-is"]}, {}, "case has an option twice"),
        ({"case": ["lower"]}, {}, "'lower'.*as-is"),
        ({"metric": ["rnsb"]}, {}, "'rnsb' is no weighted sum of cosines.*weat"),
        ({"contrast": ["associated"]}, {}, "two connections"),
        ({"contrast": ["associated - flowers"]}, {}, "none of 1 specifications could be computed"),
        ({"contrast": [{"axis": "gender_pairs"}]}, {}, "contrast: the key 'groups' is missing"),
        ({"contrast": [{**AXIS, "axis": "heights"}]}, {}, "'heights' in contrast is no file in .*, nor one of"),
        ({"contrast": [{**AXIS, "axis": str(WEAT7)}]}, {}, "made of two lists: give pairs, or give the lists as"),
        ({"all_but_top": [-1]}, {}, "all_but_top"),
        ({"without": ["each"], "all_but_top": list(range(400))}, {}, "combinations, more than 5,000"),
        ({"words": ["weat77"]}, {}, "weat77"),
        ({}, {"replicates": -1}, "replicates is -1"),
        ({}, {"draws": 3}, "draws"),
        ({"centre": {"options": ["none"], "status": "sure"}}, {}, "status"),
    ],
)
def test_wrong_plans(change, fields, message):
    plan = {name: options for name, options in {**PLAN, **change}.items() if options is not None}
    with pytest.raises(InputError, match=message):
        multiverse(plan, **fields)


def test_two_copies_of_an_embedding_are_one(vectors, tmp_path):
    other = shutil.copy(vectors[0], tmp_path / "other.bin")
    with pytest.raises(InputError, match="two embeddings are one file"):
        multiverse({"embedding": [vectors[0], other], "words": ["weat7"]})


class TestShown:
    @pytest.mark.usefixtures("without_pictures")
    def test_the_command(self, here, vectors):
        lines = ["replicates = 20", "[decisions]", f"embedding = {json.dumps(vectors)}", 'words = ["weat7"]']
        Path("plan.toml").write_text("\n".join([*lines, 'centre = ["none", "vocabulary"]']), encoding="utf-8")
        code, output, errors = here(
            "multiverse", "plan.toml", "--folder", "kept", "-o", "t.csv", "--picture", "m.png", "--report", "r.html"
        )
        assert code == 0, errors
        assert "Standard deviation of each decision's effects" in output
        table = pd.read_csv("t.csv")
        assert len(table) == 4
        assert Path("m.png").stat().st_size > 1000
        assert "What decides" in Path("r.html").read_text(encoding="utf-8")
        assert (Path("kept") / "manifest.json").is_file()
        code, _, errors = here("multiverse", "none.toml")
        assert code != 0
        assert "none.toml" in errors

    def test_the_picture(self, found):
        axes, panel = bb.plots.plot_multiverse(found).axes
        table = found.table()
        table = table.loc[[row for row in table.index if row in found.distinct.index]]
        np.testing.assert_allclose(axes.collections[1].get_offsets()[:, 1], table["estimate"])
        labels = [label.get_text() for label in panel.get_yticklabels()]
        names = "\n".join(labels)
        for option in ("v0.bin", "v1.bin", "associated - human", "vocabulary"):
            assert option in names
        row = found.spreads().set_index("decision").loc["embedding"]
        assert f"embedding ({figure_of(row['mean'])}, p {row['p_value']:.2g})" in names
        # ticks stand under their specifications
        ticks = panel.collections[0].get_offsets()[:, 0]
        decision, option = labels[0].split(" (")[0], labels[0].split(": ")[1]
        np.testing.assert_array_equal(ticks, np.flatnonzero(table[decision].astype(str) == option))

    def test_long_names_stay_apart(self):
        rng = np.random.default_rng(6)
        grid, covariance = made_up(rng, (3, 2))
        grid["a"] = [f"a very long name of a file of vectors {name}" for name in grid["a"]]
        _, panel = bb.plots.plot_multiverse(result_of(grid, rng.standard_normal(6), covariance)).axes
        labels = [label.get_text().rpartition(": ")[2] for label in panel.get_yticklabels()]
        assert len(set(labels)) == 5
        assert max(map(len, labels)) <= 22

    def test_it_is_what_arviz_reads(self, found):
        assert found.tree["posterior/theta"].dims == ("chain", "draw", "specification")
        assert found.draws("theta").shape[0] == DRAWS
