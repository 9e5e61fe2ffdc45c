// The pages of webhooks in the settings of projects, organizations and users.

import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { showSettings } from '#web/account/account-layout.ts'
import { formPage } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html } from '#web/ui/html.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { loadManagedOrganization, type ManagedOrganization } from '../organization/managed-organization.ts'
import { organizationFormOf, showOrganizationSettings } from '../organization/settings-frame.ts'
import { loadManagedProject, type ManagedProject } from '../project/managed-project.ts'
import { projectFormOf, showProjectSettings } from '../project/settings-frame.ts'
import { type Webhooks, webhookPage } from './webhook-page.ts'

const BELOW = '/webhooks'

export function projectWebhookPages(pages: Pages, taxonomy: Taxonomy): void {
  projectFormOf<ManagedProject & Webhooks>(pages, taxonomy, {
    below: `/settings${BELOW}`,
    name: 'manageWebhooks',
    api: 'listProjectWebhooks getWebhook createWebhook updateWebhook deleteWebhook pingWebhook rotateWebhookSecret listWebhookDeliveries getWebhookDelivery redeliverWebhookDelivery',
    ...webhookPage<ManagedProject>({
      load: loadManagedProject,
      owner: ({ project }) => ({ kind: 'project', name: project.id }),
      path: ({ settings }) => `${settings}${BELOW}`,
      show: (request, data, of) =>
        showProjectSettings(request, data, { ...of, section: BELOW, needs: 'EDIT_DETAILS', isToSee: true }),
    }),
  })
}

export function organizationWebhookPages(pages: Pages): void {
  organizationFormOf<ManagedOrganization & Webhooks>(pages, {
    below: BELOW,
    name: 'manageOrganizationWebhooks',
    api: 'listOrganizationWebhooks',
    ...webhookPage<ManagedOrganization>({
      load: loadManagedOrganization,
      owner: ({ organization }) => ({ kind: 'organization', name: organization.id }),
      path: ({ settings }) => `${settings}${BELOW}`,
      show: (request, data, of) =>
        showOrganizationSettings(request, data, { ...of, section: BELOW, needs: 'EDIT_DETAILS' }),
    }),
  })
}

type Own = { id: string }

/** For everything that they own. */
export function ownWebhookPages(pages: Pages): void {
  formPage<Own & Webhooks>(pages, {
    path: PATHS.webhooks,
    name: 'showOwnWebhooks',
    api: 'listUserWebhooks',
    ...webhookPage<Own>({
      load: async ({ viewer }: OwnRequest) => ({ id: viewer.id }),
      owner: ({ id }) => ({ kind: 'user', name: id }),
      path: () => PATHS.webhooks,
      show: (request, _data, { heading, text, body, form }) =>
        showSettings(request, {
          title: heading,
          body: html`${text !== undefined && sheetPart({ id: 'about', content: html`<p>${text}</p>` })}
<h2 class="vh">${heading}</h2>${body}`,
          refusal: form?.refusal,
        }),
    }),
  })
}
