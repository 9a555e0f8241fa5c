"""A study of the four-bar: which lengths give which swing, what is best, what tolerances do.

python examples/studies/four_bar_study.py FOLDER
"""

import sys
from pathlib import Path

import liaison

HERE = Path(__file__).resolve().parents[1]
FOUR_BAR = HERE / "four_bar.lsd"
LENGTHS = {
    "a": "8 cm .. 12 cm",
    "b": "28 cm .. 32 cm",
    "c": "33 cm .. 37 cm",
    "d": "43 cm .. 47 cm",
}
MEASURES = {"swing": "range(D) in deg", "fast": "max(abs(D'))", "size": "a + b + c + d"}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    how = {"vary": LENGTHS, "measure": MEASURES, "until": 0.7}
    study = liaison.study(
        FOUR_BAR, count=20_000, every=0.01, record=0.02, folder=folder / "store", **how
    )
    print(study)
    study.to_csv(folder / "study.csv")
    study.save_plot(folder / "scatter.png")
    study.save_plot(folder / "histogram.png", "histogram")
    study.save_plot(folder / "parallel.png", "parallel", y="swing")
    study.save_plot(folder / "envelope.png", "envelope", y="D")
    study.save_plot(folder / "surface.png", "surface", x=["a", "d"], y="swing")
    study.save_page(folder / "study.html", live=True)
    print(liaison.sobol_indices(FOUR_BAR, count=1024, every=0.01, **how))
    best = liaison.optimize(
        FOUR_BAR, every=0.01, minimize="size", subject={"swing": ">= 35 deg"}, **how
    )
    print(best)
    (folder / "best.lsd").write_text(best.lsd, encoding="utf-8")
    print(f"Open {(folder / 'study.html').resolve()} in a browser.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/study"))
