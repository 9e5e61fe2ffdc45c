// Project settings: links to other sites.

import { URL_LENGTH_MAX } from '#lib/text/text-rules.ts'
import { offered, type Taxonomy } from '#taxonomy/taxonomy.ts'
import { conflictNote, editBase } from '#web/kit/forms/edits.ts'
import { factList } from '#web/kit/forms/fields.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { linkName, serviceName, termName } from '#web/site/names.ts'
import { html, type Markup } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { saveForm } from '#web/ui/parts/actions.ts'
import { textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { type ManagedProject, may, saveFields } from './managed-project.ts'
import { projectForm, showProjectSettings } from './settings-frame.ts'

const PREFIX = 'link_urls.'

export function linkPages(pages: Pages, taxonomy: Taxonomy): void {
  projectForm(pages, taxonomy, {
    below: '/settings/links',
    name: 'manageLinks',
    api: 'listLinkPlatforms',
    show: showLinks,
    commands: { save },
    labels: () =>
      Object.fromEntries(
        [...taxonomy.linkPlatforms.keys()].map((name) => [
          `${PREFIX}${name}`,
          `The URL (${serviceName(name) ?? termName(name)})`,
        ]),
      ),
  })
}

/** Returns the URLs by field, empty for platforms without a link. */
function editable({ deps }: OwnRequest, { view }: ManagedProject): Record<string, string> {
  const platforms = new Set([
    ...offered(deps.taxonomy.linkPlatforms.values()).map(({ name }) => name),
    ...Object.keys(view.link_urls),
  ])
  return Object.fromEntries([...platforms].map((name) => [`${PREFIX}${name}`, view.link_urls[name]?.url ?? '']))
}

async function save(request: OwnRequest, data: ManagedProject, state: FormState): Promise<Outcome> {
  const changed = Object.entries(state.edited(editable(request, data))).map(
    ([field, url = '']) => [field.slice(PREFIX.length), url.trim() === '' ? null : url.trim()] as const,
  )
  if (changed.length > 0) await saveFields(request, data, { link_urls: Object.fromEntries(changed) })
  return { done: 'saved' }
}

function showLinks(request: OwnRequest, data: ManagedProject, state: FormState) {
  const { page, t } = request
  const isEditable = may(data, 'EDIT_DETAILS') || state.isSubmitted
  return showProjectSettings(request, data, {
    section: '/links',
    heading: t('manage.links'),
    text: t('manage.links.text'),
    needs: 'EDIT_DETAILS',
    form: state,
    body: isEditable ? linksForm(request, data, state) : facts(page, data),
  })
}

function linksForm(request: OwnRequest, data: ManagedProject, state: FormState): Markup {
  const { page, deps, t } = request
  const current = editable(request, data)
  const nameOf = (field: string): string => linkName(page.language, field.slice(PREFIX.length))
  const isDonation = (field: string): boolean =>
    deps.taxonomy.linkPlatforms.get(field.slice(PREFIX.length))?.donation === true
  const fields = (which: (field: string) => boolean): Markup[] =>
    Object.keys(current)
      .filter(which)
      .map((name) =>
        textField(page, {
          name,
          label: nameOf(name),
          value: state.text(name, current[name]),
          type: 'url',
          maxLength: URL_LENGTH_MAX,
          placeholder: 'https://',
          isOptional: true,
          errors: state.errors,
        }),
      )
  const labels = Object.fromEntries(Object.keys(current).map((field) => [field, nameOf(field)]))
  const links = html`${editBase(state, current)}${conflictNote(page, state, labels)}${fields((field) => !isDonation(field))}`
  const donations = html`<div class="pair">${fields(isDonation)}</div>`
  return saveForm(page, {
    path: `${data.settings}/links`,
    parts: [
      sheetPart({ id: 'links', content: links }),
      sheetPart({ id: 'donations', title: t('manage.links.donations'), content: donations }),
    ],
  })
}

function facts(page: PageContext, { view }: ManagedProject): Markup {
  const { t } = page.language
  const links = Object.values(view.link_urls)
  const rows = links.map(
    ({ platform, url }) => [linkName(page.language, platform), html`<a href="${url}">${url}</a>`] as const,
  )
  const content = rows.length === 0 ? html`<p class="soft">${t('manage.links.none')}</p>` : factList(page, rows)
  return sheetPart({ id: 'links', content })
}
