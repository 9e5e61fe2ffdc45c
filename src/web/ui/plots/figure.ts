// The figure around every plot: heading, summary, table and CSV link.
import { attributes, html, type Markup, type Part } from '../html.ts'
import { icon, type PageContext } from '../page-context.ts'

export type PlotFigure = {
  /** Unique on the page. */
  id: string
  title: string
  /** One sentence that describes the plot, also for screen readers. */
  summary: string
  /** Links to other views, such as periods. */
  controls?: Markup
  /** URL of the CSV file. */
  csvHref?: string
  /** After the link to the CSV file. */
  more?: Part
}

export type PlotTable = { header: readonly string[]; rows: readonly { name: string; cells: readonly string[] }[] }

/** Returns the attributes that connect an SVG with the title and summary of its figure. */
export function svgAttributes(
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
  { images, table }: { images: Part; table?: PlotTable },
): Markup {
  const { language } = page
  const { id, title, summary, controls, csvHref, more } = of
  return html`<figure class="plot" id="${id}"><figcaption><h2 id="${id}-title">${title}</h2>${controls}</figcaption>
${images}
<p class="small soft" id="${id}-summary">${summary}</p>
${table !== undefined && plotTable(page, of, table)}${
  csvHref !== undefined &&
  html`
<p><a class="lone" href="${csvHref}">${icon(page, 'table')}${language.t('plot.csv')}</a></p>`
}${more}
</figure>`
}

function plotTable({ language }: PageContext, { title }: PlotFigure, table: PlotTable): Markup {
  return html`<details><summary>${language.t('plot.table')}</summary>
<div class="scroll" tabindex="0" role="group" aria-label="${title}">
<table><thead><tr>${table.header.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${table.rows.map(
    ({ name, cells }) => html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>
`,
  )}</tbody></table>
</div></details>`
}

/** Formats a coordinate with one decimal digit, which is precise enough for screens. */
export function coordinate(value: number): string {
  return String(Math.round(value * 10) / 10)
}
