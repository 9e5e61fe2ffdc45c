// Facts about a reviewed project: images, links and owner.
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { organizationPath, projectPath } from '#web/kit/paths.ts'
import { wholeNumber } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { badge } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { linkName } from '../../site/names.ts'
import { moderatedUser } from '../frame.ts'
import { spamButton } from '../people/spam-button.ts'
import { rowTile } from '../queue/queue-table.ts'
import { ownerLanguage } from '../replies.ts'
import type { Changes, Review } from './load-review.ts'
import { section } from './section.ts'

/** Number of images that are shown before "View all images". */
const IMAGES_SHOWN = 12

export function imagesPart(page: PageContext, { changes, view }: Review, projectPath: string): Part {
  const { t } = page.language
  const { added, removed, changed } = changes.gallery
  if (view.gallery.length + removed.length === 0 && changes.icon.before === changes.icon.after) return null
  const isNew = new Set(added.map(({ url }) => url))
  const images = view.gallery.toSorted((a, b) => Number(isNew.has(b.url)) - Number(isNew.has(a.url)))
  const icons = changes.icon.before !== changes.icon.after && iconChange(page, changes.icon)
  const thumbs = images.slice(0, IMAGES_SHOWN).map(({ url, raw_url: href, name, description }, index) => {
    const alt = name ?? t('site.picture', { number: index + 1, name: view.name })
    const image = attributes({ src: url, alt, width: 350, height: 197, loading: 'lazy' })
    return html`<li><a href="${href}"><img${image}>${isNew.has(url) && badge('good', t('moderate.new'))}</a>${name !== null && html`<p class="small strong" dir="auto">${name}</p>`}${description !== null && html`<p class="small" dir="auto">${description}</p>`}</li>
`
  })
  const content = html`${icons}${thumbs.length > 0 && html`<ul class="thumbs">${thumbs}</ul>`}
${images.length > IMAGES_SHOWN && html`<p class="small"><a href="${pathTo(page, `${projectPath}/gallery`)}">${t('moderate.images.all')}</a></p>`}`
  const counts = { added: added.length, removed: removed.length, changed: changed.length }
  return section({ id: 'images', title: t('moderate.images'), text: t('moderate.images.text', counts), content })
}

function iconChange(page: PageContext, { before, after }: Changes['icon']): Markup {
  const { t } = page.language
  const shown = (url: string | null, label: string) =>
    html`<span>${url === null ? t('moderate.icon.none') : html`<img src="${url}" alt="${label}" width="48" height="48">`}</span>`
  return html`<p class="line">${t('moderate.icon.changed')} ${shown(before, t('moderate.icon.before'))} → ${shown(after, t('moderate.icon.now'))}</p>`
}

export function linksPart(page: PageContext, { changes }: Review): Part {
  const { t } = page.language
  if (changes.links.length === 0) return null
  const isComparing = changes.since !== null
  const rows = changes.links.map(({ platform, before, after, other_projects: others }) => {
    const isChanged = isComparing && before !== after
    const state = !isChanged
      ? t('moderate.link.same')
      : before === null
        ? badge('good', t('moderate.new'))
        : badge('warn', t(after === null ? 'moderate.link.removed' : 'moderate.link.changed'))
    const count = others === null ? '–' : wholeNumber(page.language, others)
    const url = html`${isChanged && before !== null && html`<del dir="ltr">${before}</del> `}${after !== null && html`<a href="${after}" rel="noopener noreferrer nofollow ugc" dir="ltr">${after}</a>`}`
    const least = html`<span class="least">${state}</span>`
    const near = others !== null && html`<span class="near">${t('moderate.link.others', { count: others })}</span>`
    return {
      isHot: isChanged,
      cells: [html`${linkName(page.language, platform)}${least}`, html`${url}${near}`, state, count],
    }
  })
  const content = listTable(page, {
    caption: t('moderate.links'),
    isInner: true,
    columns: [
      { label: t('moderate.link.platform') },
      { label: t('moderate.link.url') },
      { label: t('moderate.link.state'), room: 'mid' },
      { label: t('moderate.link.hosts'), room: 'far', isNumber: true },
    ],
    rows,
  })
  return section({ id: 'links', title: t('moderate.links'), content })
}

export function similarPart(page: PageContext, { similar }: Review): Part {
  const { t } = page.language
  if (similar.length === 0) return null
  const rows = similar.map((project) => {
    const reasons = project.reasons.map((reason) => t(`moderate.similar.${reason}`)).join(', ')
    const owner = project.ownership !== null && html`<bdi>${project.ownership.name}</bdi>`
    const name = nameCell({
      tile: rowTile(page, project.icon_url),
      href: pathTo(page, projectPath(project)),
      name: project.name,
      details: owner,
      least: [reasons],
    })
    return { cells: [name, reasons, wholeNumber(page.language, project.downloads)] }
  })
  const content = listTable(page, {
    caption: t('moderate.similar'),
    isInner: true,
    columns: [
      { label: t('moderate.column.project') },
      { label: t('moderate.similar.match'), room: 'mid' },
      { label: t('site.column.downloads'), isNumber: true },
    ],
    rows,
  })
  return section({ id: 'similar', title: t('moderate.similar'), content })
}

export async function ownerPart(request: OwnRequest, { entry, record }: Review): Promise<Part> {
  const { page, deps, t } = request
  const owner = entry?.owner
  if (owner === null || owner === undefined) return null
  const path = owner.kind === 'user' ? moderatedUser(owner.id) : organizationPath(owner.id)
  const picture = imageUrl(deps.config, owner.icon_url)
  const avatar =
    picture !== null && html`<img class="face" src="${picture}" alt="" width="40" height="40" loading="lazy">`
  const figure = (label: string, value: number) =>
    html`<div><dt>${label}</dt><dd class="big">${wholeNumber(page.language, value)}</dd></div>`
  const content = html`<p class="person">${avatar}<a class="strong" href="${pathTo(page, path)}"><bdi>${owner.name}</bdi></a> <span class="soft">${t(`moderate.owner.${owner.kind}`)}</span> ${ownerLanguage(page, record?.language)}</p>
${record !== undefined && html`<dl class="tiles">${figure(t('moderate.owner.approved'), record.approved)}${figure(t('moderate.owner.rejected'), record.rejected)}${figure(t('moderate.owner.reports'), record.reports)}</dl>`}
${await spamButton(request, owner)}`
  return section({ id: 'owner', title: t('moderate.owner'), content })
}
