// Project settings: the badges of the project with the code to paste into README files and other sites.
import type { FastifyReply } from 'fastify'
import { isPublicStatus } from '#taxonomy/project-status.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PROJECT_TYPES, projectSegments } from '#web/kit/paths.ts'
import { BADGE_STYLES, BADGES, type BadgeName, badgePath } from '#web/site/machines/badge.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { selectField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { note } from '#web/ui/parts/lists.ts'
import { loadManagedProject, type ManagedProject } from './managed-project.ts'
import { showProjectSettings, toCanonical } from './settings-frame.ts'

export function badgePages(pages: Pages, taxonomy: Taxonomy): void {
  for (const segment of projectSegments(taxonomy))
    pages.own('GET', `/${segment}/:slug/settings/badges`, 'manageBadges', async (request) => {
      const data = await loadManagedProject(request)
      return toCanonical(request, data) ?? showBadges(request, data)
    })
}

async function showBadges(request: OwnRequest, data: ManagedProject): Promise<FastifyReply> {
  const { page, t, query } = request
  const style = BADGE_STYLES.find((known) => known === query('style')) ?? BADGE_STYLES[0]
  const hidden = html`<p>${t('manage.badges.hidden')}</p>`
  return showProjectSettings(request, data, {
    section: '/badges',
    heading: t('manage.badges'),
    text: t('manage.badges.text'),
    body: html`${!isPublicStatus(data.view.status) && note(page, 'warn', hidden)}
<form method="get" action="${pathTo(page, `${data.settings}/badges`)}" class="part stack">
<div class="pair">${selectField(page, { name: 'style', label: t('manage.badges.style'), choices: BADGE_STYLES.map((value) => ({ value, label: t(`manage.badges.style.${value}`), isChosen: value === style })) })}</div>
<div class="line"><button>${t('manage.badges.show')}</button></div>
</form>
${Object.keys(BADGES).map((name) => badgePart(request, data, name as BadgeName, style === BADGE_STYLES[0] ? '' : style))}`,
  })
}

/** Shows one badge with its code in Markdown and in HTML, which link the project page. */
function badgePart({ page, t }: OwnRequest, { view, path }: ManagedProject, name: BadgeName, style: string): Markup {
  const type = PROJECT_TYPES.find((known) => view.project_types.includes(known)) ?? 'project'
  const image = badgePath(type, view.slug, name, { style })
  const [src, href] = [`${page.site.url}${image}`, `${page.site.url}${path}`]
  const label = BADGES[name]
  const code = (kind: 'Markdown' | 'HTML', text: string): Markup => {
    const id = `${name}-${kind.toLowerCase()}`
    return html`<p class="line"><span>${kind}</span><button class="tight" type="button" data-copy="${id}" data-done="${t('copied')}" hidden>${t('copy')}<span class="vh"> ${kind} (${label})</span></button></p>
<pre id="${id}" tabindex="0" role="group" aria-label="${kind} (${label})" dir="ltr"><code>${text}</code></pre>`
  }
  return sheetPart({
    id: `badge-${name}`,
    title: t(`manage.badges.${name}`),
    content: html`<p><img src="${pathTo(page, image)}" alt="${label}" height="20"></p>
<div class="prose">${code('Markdown', `[![${label}](${src})](${href})`)}
${code('HTML', `<a href="${href}"><img src="${src}" alt="${label}"></a>`)}</div>`,
  })
}
