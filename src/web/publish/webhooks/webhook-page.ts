// The page of the webhooks of a project, an organization, a user or the instance: their list, one of them with its
// deliveries, and the forms. The pages of the owners add their frame.
import type { FastifyReply } from 'fastify'
import { pingWebhook, redeliver } from '#features/exchange/webhooks/deliveries/redeliver.ts'
import { getOwner } from '#features/exchange/webhooks/owner.ts'
import { listWebhooksOf, type WebhookRow } from '#features/exchange/webhooks/queries.ts'
import {
  NewWebhook,
  type OwnerKind,
  overlapHours,
  SecretRotation,
  WebhookPatch,
} from '#features/exchange/webhooks/requests.ts'
import {
  createWebhook,
  deleteWebhook,
  rotateSecret,
  updateWebhook,
} from '#features/exchange/webhooks/update-webhook.ts'
import { toWebhookView } from '#features/exchange/webhooks/views.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { secretView } from '#web/account/access/tokens.ts'
import type { FormPage, FormState, Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues as checked } from '#web/kit/forms/read-form.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { withQuery } from '#web/kit/paths.ts'
import type { Part } from '#web/ui/html.ts'
import { type OpenLog, openLog, showLog } from './deliveries.ts'
import { showList, showWebhook, valuesOf } from './webhook-parts.ts'

export type Owner = { kind: OwnerKind; name: string }

/** The webhooks of a page; `isManager` is false for members who see only that they may not see them. */
export type Webhooks = { hooks: readonly WebhookRow[]; isManager: boolean; open: WebhookRow | undefined; log: OpenLog }

/** Parts that differ between the owners. */
export type Frame<Data> = {
  load(request: OwnRequest): Promise<Data>
  owner(data: Data): Owner
  path(data: Data): string
  show(request: OwnRequest, data: Data & Webhooks, of: Shown): Promise<FastifyReply> | FastifyReply
}
export type Shown = { heading: string; text?: Part; body: Part; form?: FormState }

const LABELS = {
  url: 'The address',
  events: 'The events',
  loaders: 'The loaders',
  game_versions: 'The game versions',
  version_types: 'The channels',
  overlap_hours: 'The overlap',
}

/** Returns the parts of a page with a form that all owners share. */
export function webhookPage<Data extends object>(
  frame: Frame<Data>,
): Pick<FormPage<Data & Webhooks>, 'load' | 'show' | 'commands' | 'labels'> {
  const lead = (done: Outcome & { done?: unknown }, open?: WebhookRow): Outcome =>
    open === undefined ? done : { ...done, with: { webhook: open.id } }
  const secretPage = (request: OwnRequest, data: Data & Webhooks, of: { name: string; secret: string; next: string }) =>
    frame.show(request, data, {
      heading: request.page.language.t('secret.webhook.title'),
      body: secretView(request.page, { what: 'webhook', ...of }),
    })
  return {
    load: async (request) => {
      const data = await frame.load(request)
      return { ...data, ...(await loadWebhooks(request, frame.owner(data))) }
    },
    show: (request, data, state) => {
      const { t } = request
      const { open } = data
      const path = frame.path(data)
      if (!data.isManager)
        return frame.show(request, data, { heading: t('webhooks.title'), text: t('webhooks.text'), body: '' })
      const heading = open === undefined ? t('webhooks.title') : t('webhooks.one', { host: open.host })
      const kind = frame.owner(data).kind
      const body =
        open === undefined
          ? showList(request, { hooks: data.hooks, path, state, kind })
          : showOpen(request, { hook: open, path, state, kind, log: data.log })
      const text = open === undefined ? { text: t('webhooks.text') } : {}
      return frame.show(request, data, { heading, ...text, body, form: state })
    },
    commands: {
      add: async (request, data, state) => {
        const { kind, name } = frame.owner(data)
        const owner = kind === 'instance' ? { kind } : { kind, id: name }
        const body = checked(NewWebhook, { owner, ...valuesOf(state) })
        const { row, secret } = await createWebhook(request.deps, request.viewer, body)
        const next = withQuery(frame.path(data), { webhook: row.id })
        return secretPage(request, data, { name: row.host, secret, next })
      },
      save: async ({ deps, viewer }, { open }, state) => {
        const hook = requireOpen(open)
        const { url, ...fields } = valuesOf(state)
        // A masked address was not edited.
        const patch = checked(WebhookPatch, { ...fields, ...(url === toWebhookView(hook).url ? {} : { url }) })
        await updateWebhook(deps, viewer, { id: hook.id, patch })
        return lead({ done: 'saved' }, hook)
      },
      switch: async ({ deps, viewer }, { open }, state) => {
        const hook = requireOpen(open)
        await updateWebhook(deps, viewer, { id: hook.id, patch: { active: state.argument === 'on' } })
        return lead({ done: state.argument === 'on' ? 'webhook-on' : 'webhook-off' }, hook)
      },
      ping: async ({ deps, viewer }, { open }) => {
        const hook = requireOpen(open)
        await pingWebhook(deps, viewer, hook.id)
        return lead({ done: 'webhook-pinged' }, hook)
      },
      again: async ({ deps, viewer }, { open }, state) => {
        const hook = requireOpen(open)
        await redeliver(deps, viewer, { webhookId: hook.id, deliveryId: state.argument })
        return lead({ done: 'webhook-again' }, hook)
      },
      rotate: async (request, data, state) => {
        const hook = requireOpen(data.open)
        const hours = state.text('overlap_hours').trim()
        const rotation = checked(SecretRotation, { overlap_hours: hours === '' ? Number.NaN : Number(hours) })
        const of = { id: hook.id, overlapHours: overlapHours(rotation) }
        const secret = await rotateSecret(request.deps, request.viewer, of)
        const next = withQuery(frame.path(data), { webhook: hook.id })
        return secretPage(request, data, { name: hook.host, secret, next })
      },
      remove: async ({ deps, viewer }, { open }) => {
        await deleteWebhook(deps, viewer, requireOpen(open).id)
        return { done: 'webhook-removed' }
      },
    },
    labels: LABELS,
  }
}

/** Shows a webhook with its deliveries, or only the delivery that the URL names: it would be below the whole form. */
function showOpen(request: OwnRequest, { log, ...of }: OpenWebhook): Part {
  const deliveries = showLog(request, { hook: of.hook, path: of.path, log })
  return log.open === undefined ? showWebhook(request, { ...of, deliveries }) : deliveries
}

type OpenWebhook = { hook: WebhookRow; path: string; state: FormState; kind: OwnerKind; log: OpenLog }

async function loadWebhooks(request: OwnRequest, { kind, name }: Owner): Promise<Webhooks> {
  const { deps, viewer, query } = request
  const owner = await getOwner(deps, viewer, { kind, name }).catch((error: unknown) => {
    if (error instanceof ApiError && error.kind === 'forbidden') return undefined
    throw error
  })
  const log: OpenLog = { deliveries: [], next: undefined, state: undefined, open: undefined }
  if (owner === undefined) return { hooks: [], isManager: false, open: undefined, log }
  const hooks = await listWebhooksOf(deps.db, owner)
  const id = query('webhook')
  if (id === '') return { hooks, isManager: true, open: undefined, log }
  const open = hooks.find((hook) => hook.id === id)
  if (open === undefined) throw notFound('webhook')
  return { hooks, isManager: true, open, log: await openLog(request, open) }
}

function requireOpen(open: WebhookRow | undefined): WebhookRow {
  if (open === undefined) throw notFound('webhook')
  return open
}
