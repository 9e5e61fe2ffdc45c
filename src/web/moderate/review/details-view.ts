// Details of the new versions of a review: dependencies, changelog, and manifests that cannot be parsed.
import type { ReviewedDependency } from '#features/community/moderation/version-details.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { reviewPath } from '#web/kit/paths.ts'
import { visibleName } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import type { Review } from './load-review.ts'

/** The details of versions, by version. */
export type ShownDetails = ReadonlyMap<string, Markup>

export async function versionDetails({ page, texts }: OwnRequest, { details, view }: Review): Promise<ShownDetails> {
  const { t } = page.language
  const shown = [...details].map(async ([id, { changelog, dependencies, omitted, unreadable }]) => {
    const warnings = unreadable.map(({ filename, entry }) => {
      const text = t('moderate.files.unreadable', { entry: visibleName(entry), file: filename })
      return html`<li data-finding>${icon(page, 'warning')}<span>${text}</span></li>`
    })
    const more = omitted > 0 && html`<li class="soft">${t('moderate.dependencies.more', { count: omitted })}</li>`
    const content = html`${warnings.length > 0 && html`<ul>${warnings}</ul>`}${
      dependencies.length > 0 &&
      html`<p class="strong">${t('site.tab.dependencies')}</p>
<ul>${dependencies.map((one) => dependencyItem(page, one))}${more}</ul>`
    }${
      changelog.trim() !== '' &&
      html`<details class="more"><summary>${t('site.tab.changelog')}</summary>${await texts.render(changelog, page, view)}</details>`
    }`
    return [id, content] as const
  })
  return new Map(await Promise.all(shown))
}

function dependencyItem(page: PageContext, one: ReviewedDependency): Markup {
  const { type, project, version_number: number, file_name: file, declared_id: declared } = one
  const name: Part =
    project === null
      ? html`<code dir="auto">${visibleName(file ?? declared ?? '')}</code>`
      : html`<a href="${pathTo(page, reviewPath(project.id))}"><bdi>${project.name}</bdi></a>`
  return html`<li>${name}${number !== null && html` <bdi>${number}</bdi>`} <span class="soft">${page.language.t(`site.dependency.${type}`)}</span></li>
`
}
