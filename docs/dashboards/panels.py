"""Queries and panels that the dashboard is made of."""

from __future__ import annotations

from grafana_foundation_sdk.builders import common, prometheus, stat, timeseries
from grafana_foundation_sdk.models import common as models
from grafana_foundation_sdk.models.dashboard import DataSourceRef

SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
CHOSEN = 'job=~"$job", rewriter=~"$rewriter"'
JUDGED = 'verdict!="none"'


def rate(metric: str, labels: str = "", over: str = "$window", by: str = "") -> str:
    """How often a counter went up, by the labels `by`."""
    wanted = f"{CHOSEN}, {labels}" if labels else CHOSEN
    return f"{f'sum by ({by}) ' if by else 'sum'}(rate(rewriteguard_{metric}{{{wanted}}}[{over}]))"


def share(part: str, whole: str = JUDGED, over: str = "$window", by: str = "") -> str:
    """The share of decisions that are `part`, of those that are `whole`; 0 where there are none of them."""
    total = rate("decisions_total", whole, over, by)
    return f"({rate('decisions_total', part, over, by)} or 0 * {total}) / {total}"


def split(counted: str, whole: str = JUDGED) -> str:
    """Something counted by a label, for each decision that is `whole`."""
    return f"{counted} / on () group_left {rate('decisions_total', whole)}"


def quantile(q: float, metric: str, by: str = "", over: str = "$window") -> str:
    """A quantile of a histogram."""
    return f"histogram_quantile({q}, {rate(f'{metric}_bucket', over=over, by=f'{by}, le' if by else 'le')})"


def mean(metric: str, by: str = "", over: str = "$window") -> str:
    """The mean of a histogram."""
    return f"{rate(f'{metric}_sum', over=over, by=by)} / {rate(f'{metric}_count', over=over, by=by)}"


def count(metric: str, labels: str = "", over: str = "$window", by: str = "") -> str:
    """How much a counter went up."""
    return rate(metric, labels, over, by).replace("(rate(", "(increase(")


def judgements(sample: str, part: str) -> str:
    """The share of the judge's answers about a `sample` that are `part`; 0 where there are none of them."""
    total = rate("judgements_total", sample)
    return f"({rate('judgements_total', f'{sample}, {part}')} or 0 * {total}) / {total}"


def query(expression: str, legend: str = "", letter: str = "A") -> prometheus.Dataquery:
    """One query over time."""
    return prometheus.Dataquery().expr(expression).legend_format(legend).ref_id(letter).range().datasource(SOURCE)


def number(title: str, about: str, unit: str, expression: str, decimals: int = 1) -> stat.Panel:
    """One figure for the whole time range."""
    return (
        stat.Panel()
        .title(title)
        .description(about)
        .datasource(SOURCE)
        .unit(unit)
        .decimals(decimals)
        .height(4)
        .span(4)
        .color_mode(models.BigValueColorMode.NONE)
        .graph_mode(models.BigValueGraphMode.NONE)
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
        .with_target(query(expression).instant())
    )


def chart(title: str, about: str, unit: str, width: int, **lines: str) -> timeseries.Panel:
    """Lines over time; `lines` are expressions by legend, where `by_x` is one line for each value of the label x."""
    panel = (
        timeseries.Panel()
        .title(title)
        .description(about)
        .datasource(SOURCE)
        .unit(unit)
        .min(0)
        .height(8)
        .span(width)
        .fill_opacity(8)
        .show_points(models.VisibilityMode.NEVER)
        .legend(
            common.VizLegendOptions()
            .display_mode(models.LegendDisplayMode.TABLE)
            .placement(models.LegendPlacement.BOTTOM)
            .show_legend(True)
            .calcs(["mean", "lastNotNull"])
        )
        .tooltip(common.VizTooltipOptions().mode(models.TooltipDisplayMode.MULTI).sort(models.SortOrder.DESCENDING))
    )
    for place, (name, expression) in enumerate(lines.items()):
        label = name.removeprefix("by_")
        legend = name.replace("_", " ") if label == name else f"{{{{{label}}}}}"
        panel.with_target(query(expression, legend, chr(ord("A") + place)))
    return panel


def stacked(panel: timeseries.Panel) -> timeseries.Panel:
    """The same panel as areas that add up to the whole."""
    panel.max(1).fill_opacity(60).line_width(0)
    return panel.stacking(common.StackingConfig().mode(models.StackingMode.NORMAL).group("A"))
