// The first page of a project: description, compatibility, people and details.
import type { FastifyReply } from 'fastify'
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { PROJECT_TYPES } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { html } from '#web/ui/html.ts'
import { projectAdvisories } from '../advisory/advisory-notes.ts'
import { typeName } from '../names.ts'
import { setupForm } from '../setup-form.ts'
import { loadProjectPage } from './project-data.ts'
import { projectPage } from './project-frame.ts'
import { compatibility, detailsPanel, galleryPreview, linksPanel, peoplePanel, relatedPanel } from './project-panels.ts'
import { projectPlot } from './statistics.ts'

export async function showProject(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const data = await loadProjectPage(request, project)
  const { page, setup, deps, show } = request
  const { view, description, downloads } = data
  const body = html`<div class="body">
${galleryPreview(page, data)}
${String(description) === '' ? html`<p class="soft">${page.language.t('site.no-description')}</p>` : description}
${projectPlot(page, data, downloads)}
</div>
<aside aria-label="${page.language.t('site.about', { name: view.name })}">
${compatibility(page, data, { setup, taxonomy: deps.taxonomy })}
${setupForm(request)}
${linksPanel(page, data)}
${peoplePanel(page, data)}
${detailsPanel(page, data)}
${relatedPanel(page, data)}
</aside>`
  const type = PROJECT_TYPES.find((name) => view.project_types.includes(name))
  const owner = data.organization?.name ?? data.members.find(({ is_owner }) => is_owner)?.user.username
  const title =
    owner === undefined
      ? type === undefined
        ? view.name
        : page.language.t('site.title.project', { name: view.name, type: typeName(page.language, type) })
      : page.language.t('project.title', { name: view.name, owner, type: type ?? 'project' })
  const offered = data.offer?.version.id
  const warning = projectAdvisories(page, {
    advisories: data.advisories,
    versions: data.traits,
    ...(offered === undefined ? {} : { offered }),
  })
  return show(projectPage(request, data, { tab: '', title, body, warning, isSplit: true }))
}
