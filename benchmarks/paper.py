"""A short paper made of a methods text, a table, a figure and a bibliography, compiled where LaTeX is installed.

python -m benchmarks.paper FOLDER
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt

import bayesbias as bb
from bayesbias._support.numbers import latex

DOCUMENT = r"""\documentclass{article}
\usepackage{booktabs,graphicx,natbib,url}
\makeatletter\def\fps@table{!ht}\def\fps@figure{!ht}\makeatother
\begin{document}
\title{Paper section}\author{}\date{}\maketitle
\section{Method}
%s \nocite{*}
\section{Results}
Table~\ref{tab:contrasts} has the contrasts, Figure~\ref{fig:contrasts} the words.
\input{contrasts}
\begin{figure}\centering\includegraphics{contrasts}
\caption{Associated $-$ different by protected word, with 50\%% and 89\%% intervals; negative: own stereotypes are
closer. Blue: the sign of the word is clear; grey: it is not.}\label{fig:contrasts}\end{figure}
\clearpage
\bibliographystyle{plainnat}
\bibliography{works}
\end{document}
"""


def write(folder: Path) -> None:
    """The four parts and the document that holds them."""
    post = bb.fit(bb.distance_table("google-news-slice", "weat7"), seed=0)
    topics = bb.topic_null("google-news-slice", "weat7", replicates=200, seed=0)
    bb.to_latex(bb.summary(post, topics), folder / "contrasts.tex", label="tab:contrasts")
    plt.rcParams["font.size"] = 8
    figure, axes = plt.subplots(figsize=(4.8, 3.6), layout="constrained")  # inches: the width of the text
    bb.plots.plot_contrasts(post, beside=False, ax=axes)
    figure.savefig(folder / "contrasts.pdf")
    (folder / "works.bib").write_text(bb.cite(post).bibtex(), encoding="utf-8")
    (folder / "paper.tex").write_text(DOCUMENT % latex(bb.methods_text(post)), encoding="utf-8")


def compiled(folder: Path) -> Path | None:
    """The document as PDF; None where there is no LaTeX."""
    if tectonic := shutil.which("tectonic"):
        commands = [[tectonic, "paper.tex"]]
    elif latex := shutil.which("pdflatex"):
        run = [latex, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
        commands = [run, ["bibtex", "paper"], run, run]
    else:
        return None
    for command in commands:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}")
    return folder / "paper.pdf"


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "paper")
    target.mkdir(parents=True, exist_ok=True)
    write(target)
    print(compiled(target) or "neither tectonic nor pdflatex is installed: the parts are written")
