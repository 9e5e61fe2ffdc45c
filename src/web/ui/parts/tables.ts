// Tables with bulk actions, rows of fields, and the permission matrix.

import { attributes, html, type Markup, type Part } from '../html.ts'
import { icon, type PageContext } from '../page-context.ts'
import { form } from './fields.ts'

export type Column = {
  label: string
  /** `far` columns are hidden first, then `mid` columns. Repeat their values in `near` and `least` of another cell. */
  room?: 'far' | 'mid'
  isNumber?: boolean
  /** Whether only screen readers read the label: for a column of buttons. */
  isAction?: boolean
  /** URL that sorts by this column, and its present order. */
  sort?: { href: string; order: 'ascending' | 'descending' | 'none' }
}

export type Row = {
  /** The cells in the order of the columns. The first cell is the heading of the row. */
  cells: readonly Part[]
  /** Value of the checkbox `ids`, and the name that its label contains. */
  pick?: { value: string; name: string; isPicked?: boolean }
  isHot?: boolean
  id?: string
  /** Whether the keys J and K move to the row. */
  isStep?: boolean
}

export type Table = {
  caption: string
  columns: readonly Column[]
  rows: readonly Row[]
  /** Whether the table is inside a part of a sheet, which has its own padding. */
  isInner?: boolean
}

/** Renders a table. Its rows have checkboxes if they have `pick`. */
export function listTable(page: PageContext, { caption, columns, rows, isInner = false }: Table): Markup {
  const { t } = page.language
  const hasPicks = rows.some(({ pick }) => pick !== undefined)
  return html`<div class="list-box"><table class="${isInner ? 'list inner' : 'list'}"><caption class="vh">${caption}</caption>
<thead><tr>${hasPicks && html`<td class="box"><span class="vh">${t('work.select')}</span></td>`}${columns.map(columnHead)}</tr></thead>
<tbody>
${rows.map((row) => tableRow(page, row, { columns, hasPicks }))}</tbody></table></div>`
}

const classOf = ({ room, isNumber, isAction }: Column): string | null =>
  [isNumber === true && 'num', isAction === true && 'act', room].filter(Boolean).join(' ') || null

function columnHead(column: Column): Markup {
  const { label, sort } = column
  const cell = attributes({ scope: 'col', class: classOf(column), 'aria-sort': sort?.order })
  const arrow = sort === undefined || sort.order === 'none' ? '' : sort.order === 'ascending' ? ' ↑' : ' ↓'
  if (column.isAction === true) return html`<td class="act"><span class="vh">${label}</span></td>`
  return html`<th${cell}>${sort === undefined ? label : html`<a href="${sort.href}">${label}${arrow}</a>`}</th>`
}

function tableRow(
  page: PageContext,
  { cells, pick, isHot = false, id, isStep }: Row,
  { columns, hasPicks }: { columns: readonly Column[]; hasPicks: boolean },
): Markup {
  const box = hasPicks && html`<td class="box">${pick !== undefined && pickBox(page, pick)}</td>`
  return html`<tr${attributes({ class: isHot && 'hot', id, 'data-step': isStep })}>${box}${cells.map((cell, index) => {
    const column = columns[index]
    const more = attributes({ class: column === undefined ? null : classOf(column) })
    return index === 0 ? html`<th scope="row"${more}>${cell}</th>` : html`<td${more}>${cell}</td>`
  })}</tr>
`
}

function pickBox(page: PageContext, { value, name, isPicked = false }: NonNullable<Row['pick']>): Markup {
  const box = attributes({ type: 'checkbox', class: 'pick', name: 'ids', value, checked: isPicked })
  return html`<label><span class="vh">${page.language.t('work.select-one', { name })}</span><input${box}></label>`
}

/**
 * Renders a form around a table with bulk actions. The bar sticks to the window while something is selected. A single
 * action is a button, several are choices.
 */
export function bulkForm(
  page: PageContext,
  of: { action: string; table: Part; actions: readonly { value: string; label: string }[]; fields?: Part },
): Markup {
  const { t } = page.language
  const options = of.actions.map(({ value, label }) => html`<option value="${value}">${label}</option>`)
  const [only] = of.actions
  const choice =
    of.actions.length === 1 && only !== undefined
      ? html`${pickedCount(page)}${of.fields}<button class="tight" name="do" value="${only.value}">${only.label}</button>`
      : html`<label for="do">${pickedCount(page)}</label><select id="do" name="do">${options}</select>${of.fields}<button class="tight">${t('work.continue')}</button>`
  return form(page, { action: of.action, content: html`${of.table}<div class="bulk">${choice}</div>` })
}

/** Renders the place where the script counts the selected rows. */
export function pickedCount({ language: { t } }: PageContext): Markup {
  const texts = attributes({ 'data-picked': t('work.picked', { count: '{count}' }), 'data-all': t('work.select-all') })
  return html`<span${texts}>${t('work.with-selected')}</span>`
}

/** Renders the name cell of a row: icon, link and details in small print. `near`, `least`: values of hidden columns. */
export function nameCell(of: {
  tile?: Part
  href?: string
  name: Part
  details?: Part
  near?: Part
  least?: readonly Part[]
}): Markup {
  const name = html`<bdi>${of.name}</bdi>`
  return html`<span class="who">${of.tile}<span>${of.href === undefined ? name : html`<a href="${of.href}">${name}</a>`}<small>${of.details}${(of.least ?? []).map((part) => html`<span class="least">${part}</span>`)}${of.near !== undefined && html`<span class="near">${of.near}</span>`}</small></span></span>`
}

export type MatrixMember = { id: string; name: string; detail?: string; face: Part }
export type MatrixCell = {
  isGranted: boolean
  /** Whether the cell is a checkbox. Other cells show a check mark or a dash. */
  isEditable: boolean
  isChanged?: boolean
}
export type MatrixRow = { value: string; label: string; hint?: string; cells: readonly MatrixCell[] }

/**
 * Renders the permission matrix: members are columns, permissions are rows. Checkboxes are named `{field}.{member ID}`
 * with the permission as their value.
 */
export function permissionMatrix(
  page: PageContext,
  of: {
    caption: string
    field: string
    members: readonly MatrixMember[]
    groups: readonly { title: string; rows: readonly MatrixRow[] }[]
  },
): Markup {
  const { t } = page.language
  const { members } = of
  const head = members.map(
    ({ name, detail, face }) =>
      html`<th scope="col">${face}<bdi>${name}</bdi>${detail !== undefined && html`<small dir="auto">${detail}</small>`}</th>`,
  )
  const cellOf = (cell: MatrixCell, row: MatrixRow, index: number): Markup => {
    const member = members[index]
    if (!cell.isEditable || member === undefined)
      return html`<td class="still">${icon(page, cell.isGranted ? 'check' : 'dots')}<span class="vh">${t(cell.isGranted ? 'work.matrix.allowed' : 'work.matrix.denied')}</span></td>`
    const box = attributes({
      type: 'checkbox',
      class: 'pick',
      name: `${of.field}.${member.id}`,
      value: row.value,
      checked: cell.isGranted,
    })
    return html`<td${attributes({ class: cell.isChanged === true && 'changed' })}><label><span class="vh">${t('work.matrix.cell', { member: member.name, permission: row.label })}</span><input${box}></label></td>`
  }
  return html`<section class="may-box" aria-label="${of.caption}" tabindex="0"><table class="may"><caption class="vh">${of.caption}</caption>
<thead><tr><th scope="col">${t('work.matrix.permission')}</th>${head}</tr></thead>
${of.groups.map(
  ({
    title,
    rows,
  }) => html`<tbody><tr class="group"><th scope="rowgroup" colspan="${members.length + 1}">${title}</th></tr>
${rows.map(
  (row) =>
    html`<tr><th scope="row">${row.label}${row.hint !== undefined && html`<small>${row.hint}</small>`}</th>${row.cells.map((cell, index) => cellOf(cell, row, index))}</tr>
`,
)}</tbody>
`,
)}</table></section>`
}
