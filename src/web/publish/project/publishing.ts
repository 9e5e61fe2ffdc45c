// Project settings: trusted publishers, and whether only they publish.
import type { FastifyReply } from 'fastify'
import { getPublishers, type PublisherOverview } from '#features/community/trusted-publishers/publisher-overview.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { form } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { addFrom, PUBLISHER_LABELS, publisherParts, removeFrom } from '../publishers/publisher-parts.ts'
import { loadManagedProject, type ManagedProject, may, saveFields } from './managed-project.ts'
import { projectFormOf, showProjectSettings } from './settings-frame.ts'

type PublishedProject = ManagedProject & { overview: PublisherOverview }

const ownerOf = ({ project }: ManagedProject) => ({ kind: 'project', name: project.id }) as const

export function publishingPages(pages: Pages, taxonomy: Taxonomy): void {
  projectFormOf<PublishedProject>(pages, taxonomy, {
    below: '/settings/publishing',
    name: 'managePublishing',
    shows: 'Trusted publishers, and whether only they publish',
    api: 'listProjectPublishers addProjectPublisher removeProjectPublisher',
    load: loadPublishing,
    show: showPublishing,
    commands: {
      add: (request, data, state) => addFrom(request, ownerOf(data), state),
      remove: (request, data, state) => removeFrom(request, ownerOf(data), state),
      save,
    },
    labels: PUBLISHER_LABELS,
  })
}

async function loadPublishing(request: OwnRequest): Promise<PublishedProject> {
  const data = await loadManagedProject(request)
  return { ...data, overview: await getPublishers(request.deps, request.viewer, ownerOf(data)) }
}

async function save(request: OwnRequest, data: ManagedProject, state: FormState): Promise<Outcome> {
  await saveFields(request, data, { publishing: state.text('publishing') })
  return { done: 'saved' }
}

async function showPublishing(request: OwnRequest, data: PublishedProject, state: FormState): Promise<FastifyReply> {
  const { t } = request
  const path = `${data.settings}/publishing`
  const isEditable = (may(data, 'EDIT_DETAILS') && may(data, 'UPLOAD_VERSION')) || state.isSubmitted
  const { overview, view } = data
  return showProjectSettings(request, data, {
    section: '/publishing',
    heading: t('publishers.title'),
    text: t('publishers.text'),
    needs: 'EDIT_DETAILS',
    form: state,
    body: html`${await publisherParts(request, state, { overview, name: view.name, path, isEditable })}${isEditable && onlyPart(request, data, path)}`,
  })
}

/** A button that turns the restriction on or off. */
function onlyPart({ page }: OwnRequest, { overview }: PublishedProject, path: string): Part {
  const { t } = page.language
  const isOnly = overview.publishing === 'trusted_only'
  const content = html`<input type="hidden" name="publishing" value="${isOnly ? 'any' : 'trusted_only'}">
<div class="line"><button name="do" value="save">${t(isOnly ? 'publishers.only.end' : 'publishers.only.begin')}</button></div>`
  return sheetPart({
    id: 'only',
    title: t('publishers.only'),
    text: t(isOnly ? 'publishers.only.on' : 'publishers.only.off'),
    content: form(page, { action: pathTo(page, path), content }),
  })
}
