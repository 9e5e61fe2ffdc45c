// Organization settings: trusted publishers of all its projects.
import type { FastifyReply } from 'fastify'
import { getPublishers, type PublisherOverview } from '#features/community/trusted-publishers/publisher-overview.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { addFrom, PUBLISHER_LABELS, publisherParts, removeFrom } from '../publishers/publisher-parts.ts'
import { loadManagedOrganization, type ManagedOrganization, may } from './managed-organization.ts'
import { organizationFormOf, showOrganizationSettings } from './settings-frame.ts'

type PublishingOrganization = ManagedOrganization & { overview: PublisherOverview }

const ownerOf = ({ organization }: ManagedOrganization) => ({ kind: 'organization', name: organization.id }) as const

export function organizationPublishingPages(pages: Pages): void {
  organizationFormOf<PublishingOrganization>(pages, {
    below: '/publishing',
    name: 'manageOrganizationPublishing',
    shows: 'Trusted publishers of all projects of the organization',
    api: 'listOrganizationPublishers addOrganizationPublisher removeOrganizationPublisher',
    load: loadPublishing,
    show: showPublishing,
    commands: {
      add: (request, data, state) => addFrom(request, ownerOf(data), state),
      remove: (request, data, state) => removeFrom(request, ownerOf(data), state),
    },
    labels: PUBLISHER_LABELS,
  })
}

async function loadPublishing(request: OwnRequest): Promise<PublishingOrganization> {
  const data = await loadManagedOrganization(request)
  return { ...data, overview: await getPublishers(request.deps, request.viewer, ownerOf(data)) }
}

async function showPublishing(
  request: OwnRequest,
  data: PublishingOrganization,
  state: FormState,
): Promise<FastifyReply> {
  const { t } = request
  const { overview, view, settings } = data
  const isEditable = may(data, 'EDIT_DETAILS') || state.isSubmitted
  const path = `${settings}/publishing`
  return showOrganizationSettings(request, data, {
    section: '/publishing',
    heading: t('publishers.title'),
    text: t('publishers.organization.text'),
    needs: 'EDIT_DETAILS',
    form: state,
    body: await publisherParts(request, state, { overview, name: view.name, path, isEditable }),
  })
}
