// The structured data (JSON-LD) of a project's pages, for search engines.

import type { PageContext } from '#platform/html/page-context.ts'
import { listPath, PROJECT_TYPES } from '#web/kit/paths.ts'
import { typesName } from '../names.ts'
import type { ProjectData } from './project-data.ts'

/** Describes the project as software, and its position in the site. */
export function structuredData(page: PageContext, { view, path, offer }: ProjectData): object[] {
  const { url } = page.site
  const type = PROJECT_TYPES.find((name) => view.project_types.includes(name))
  const list =
    type === undefined
      ? []
      : [{ '@type': 'ListItem', position: 1, name: typesName(page.language, type), item: `${url}${listPath(type)}` }]
  return [
    {
      '@type': 'SoftwareApplication',
      name: view.name,
      description: view.summary,
      url: `${url}${path}`,
      applicationCategory: 'GameApplication',
      datePublished: view.published,
      dateModified: view.updated,
      offers: { '@type': 'Offer', price: 0, priceCurrency: 'USD' },
      ...(view.icon_url === null ? {} : { image: view.icon_url }),
      ...(offer === undefined ? {} : { softwareVersion: offer.version.version_number }),
      interactionStatistic: {
        '@type': 'InteractionCounter',
        interactionType: 'https://schema.org/DownloadAction',
        userInteractionCount: view.downloads,
      },
    },
    {
      '@type': 'BreadcrumbList',
      itemListElement: [...list, { '@type': 'ListItem', position: list.length + 1, name: view.name }],
    },
  ]
}
