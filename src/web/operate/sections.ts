// The frame of the pages for operators. Each page has an entry in `SECTIONS`, in the order of the rail.
import type { FastifyReply } from 'fastify'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { showWork, twoFactorNote, type WorkPage } from '#web/kit/work-page.ts'
import { html, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'

type Section = { path: string; label: MessageKey; icon: IconName }

export const SECTIONS: readonly { title?: MessageKey; items: readonly Section[] }[] = [
  {
    items: [
      { path: '/operator', label: 'operate.overview', icon: 'dashboard' },
      { path: '/operator/jobs', label: 'operate.jobs', icon: 'pulse' },
      { path: '/operator/storage', label: 'operate.storage', icon: 'disk' },
      { path: '/operator/index', label: 'operate.index', icon: 'search' },
      { path: '/operator/mail', label: 'operate.mail', icon: 'mail' },
      { path: '/operator/backups', label: 'operate.backups', icon: 'archive' },
    ],
  },
  {
    title: 'ops.people',
    items: [
      { path: PATHS.operatorUsers, label: 'ops.accounts', icon: 'users' },
      { path: PATHS.operatorInvitations, label: 'ops.invitations', icon: 'mail' },
      { path: PATHS.operatorSignUps, label: 'ops.sign-ups', icon: 'shield' },
      { path: PATHS.operatorLimits, label: 'ops.limits', icon: 'gauge' },
      { path: PATHS.operatorPayouts, label: 'ops.payouts', icon: 'coins' },
    ],
  },
  {
    title: 'ops.content',
    items: [
      { path: PATHS.operatorTags, label: 'ops.tags', icon: 'tags' },
      { path: PATHS.operatorKeys, label: 'ops.keys', icon: 'fingerprint' },
    ],
  },
  {
    title: 'operate.instance',
    items: [
      { path: PATHS.operatorSettings, label: 'ops.settings', icon: 'palette' },
      { path: PATHS.operatorPages, label: 'ops.pages', icon: 'files' },
      { path: PATHS.operatorWebhooks, label: 'webhooks.title', icon: 'send' },
      { path: PATHS.announcement, label: 'ops.announcement', icon: 'megaphone' },
      { path: PATHS.readOnly, label: 'ops.read-only', icon: 'lock' },
      { path: '/operator/first-steps', label: 'operate.first-steps', icon: 'list-checks' },
      { path: '/operator/audit-log', label: 'operate.audit-log', icon: 'scroll' },
    ],
  },
]

export type OperatorPage = Omit<WorkPage, 'subject' | 'sections' | 'title'> & {
  /** Path of the open section. */
  section: string
  /** Heading of the sheet. */
  heading: string
  text?: Part
  /** Buttons next to the heading. */
  action?: Part
  facts?: readonly Part[]
  /** Links next to the name of the area. */
  tools?: Part
}

/** Shows a page for operators in their frame. */
export function showOperator(request: OwnRequest, of: OperatorPage): FastifyReply {
  const { t } = request
  const { section, heading, text, action, facts = [], tools, body, notes, ...rest } = of
  return showWork(request, {
    ...rest,
    notes: [twoFactorNote(request), notes],
    title: t('operate.page-title', { section: heading }),
    subject: { name: t('operate.title'), facts, tools },
    sections: {
      label: t('operate.title'),
      current: section,
      groups: SECTIONS.map(({ title, items }) => ({
        ...(title === undefined ? {} : { title: t(title) }),
        items: items.map(({ label, ...item }) => ({ ...item, label: t(label) })),
      })),
    },
    body: html`${sheetHead({ title: heading, text, action })}
${body}`,
  })
}
