// Structured data (JSON-LD, https://schema.org) for search engines: the project or version as software, and the position of
// the page in the site.
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { listPath, PROJECT_TYPES } from '#web/kit/paths.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { fieldTexts } from '../lists/rows.ts'
import { tagNames, typesName } from '../names.ts'
import { primaryFile } from './offer.ts'
import type { ProjectData } from './project-data.ts'

/** Maximum number of characters of a changelog. */
const NOTES_MAX = 500

export function projectStructure(page: PageContext, { view, path, offer }: ProjectData): object[] {
  const { url } = page.site
  return [
    {
      ...software(view),
      name: view.name,
      url: `${url}${path}`,
      datePublished: view.published,
      dateModified: view.updated,
      ...(offer === undefined ? {} : { softwareVersion: offer.version.version_number }),
      interactionStatistic: downloads(view.downloads),
    },
    breadcrumbs([...listCrumb(page, view), { name: view.name }]),
  ]
}

/** `canonical` is the path of the version. */
export function versionStructure(
  page: PageContext,
  { view, path }: ProjectData,
  { version, canonical }: { version: VersionView; canonical: string },
): object[] {
  const { url } = page.site
  const file = primaryFile(version)
  const requirements = [...fieldTexts(version, 'game_versions'), ...tagNames(page.language, version.loaders)]
  return [
    {
      ...software(view),
      name: `${view.name} ${version.version_number}`,
      url: `${url}${canonical}`,
      softwareVersion: version.version_number,
      datePublished: version.date_published,
      softwareRequirements: requirements.join(', '),
      ...(file === undefined ? {} : { downloadUrl: file.url, fileSize: `${Math.ceil(file.size / 1024)} KB` }),
      ...(version.changelog ? { releaseNotes: version.changelog.slice(0, NOTES_MAX).toWellFormed() } : {}),
      interactionStatistic: downloads(version.downloads),
      isPartOf: { '@type': 'SoftwareApplication', name: view.name, url: `${url}${path}` },
    },
    breadcrumbs([
      ...listCrumb(page, view),
      { name: view.name, item: `${url}${path}` },
      { name: page.language.t('site.tab.versions'), item: `${url}${path}/versions` },
      { name: version.version_number },
    ]),
  ]
}

function software({ summary, icon_url }: ProjectData['view']): object {
  return {
    '@type': 'SoftwareApplication',
    description: summary,
    applicationCategory: 'GameApplication',
    operatingSystem: 'Any',
    offers: { '@type': 'Offer', price: 0, priceCurrency: 'USD' },
    ...(icon_url === null ? {} : { image: icon_url }),
  }
}

function downloads(count: number): object {
  const interactionType = 'https://schema.org/DownloadAction'
  return { '@type': 'InteractionCounter', interactionType, userInteractionCount: count }
}

type Crumb = { name: string; item?: string }

function listCrumb(page: PageContext, view: ProjectData['view']): Crumb[] {
  const type = PROJECT_TYPES.find((name) => view.project_types.includes(name))
  return type === undefined ? [] : [{ name: typesName(page.language, type), item: `${page.site.url}${listPath(type)}` }]
}

function breadcrumbs(crumbs: readonly Crumb[]): object {
  const items = crumbs.map((crumb, index) => ({ '@type': 'ListItem', position: index + 1, ...crumb }))
  return { '@type': 'BreadcrumbList', itemListElement: items }
}
