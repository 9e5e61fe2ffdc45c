// What every plot has around it: a heading, a sentence, the same numbers as a table, and their CSV.
import { attributes, html, type Markup, type Part } from '../html.ts'
import { icon, type PageContext } from '../page-context.ts'

export type PlotFigure = {
  /** Unique on the page. */
  id: string
  title: string
  /** What the plot shows, in a sentence; also for those who cannot see it. */
  summary: string
  /** Views of the same, such as spans of time. */
  controls?: Markup
  /** Where the numbers are as CSV. */
  csvHref?: string
}

export type PlotTable = { header: readonly string[]; rows: readonly { name: string; cells: readonly string[] }[] }

/** The attributes by which a picture is named and described by the figure around it. */
export function pictureAttributes(
  id: string,
  className: string,
  { width, height }: { width: number; height: number },
): Markup {
  return attributes({
    class: className,
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'aria-labelledby': `${id}-title`,
    'aria-describedby': `${id}-summary`,
  })
}

export function plotFigure(
  page: PageContext,
  of: PlotFigure,
  { pictures, table }: { pictures: Part; table: PlotTable },
): Markup {
  const { language } = page
  const { id, title, summary, controls, csvHref } = of
  return html`<figure class="plot" id="${id}"><figcaption><h2 id="${id}-title">${title}</h2>${controls}</figcaption>
${pictures}
<p class="small soft" id="${id}-summary">${summary}</p>
<details><summary>${language.t('plot.table')}</summary>
<div class="scroll" tabindex="0" role="group" aria-label="${title}">
<table><thead><tr>${table.header.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${table.rows.map(
    ({ name, cells }) => html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>
`,
  )}</tbody></table>
</div></details>${
    csvHref !== undefined &&
    html`
<p class="small">${icon(page, 'table')} <a href="${csvHref}">${language.t('plot.csv')}</a></p>`
  }
</figure>`
}

/** A coordinate with one digit behind the point, which no eye can tell from more. */
export function coordinate(value: number): string {
  return String(Math.round(value * 10) / 10)
}
