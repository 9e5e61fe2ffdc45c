// Status labels of projects, versions and scans. Each has an icon, so that colour is never the only sign.
import { html, type Markup } from '../html.ts'
import type { IconName } from '../icons.ts'
import { messageOr } from '../languages.ts'
import { icon, type PageContext } from '../page-context.ts'

type Kind = 'good' | 'wait' | 'bad' | undefined

/** Renders a status label. */
export function status(page: PageContext, of: { kind?: Kind; icon: IconName; label: string }): Markup {
  return html`<span class="${['status', of.kind].filter(Boolean).join(' ')}">${icon(page, of.icon)}${of.label}</span>`
}

const PROJECT: Readonly<Record<string, readonly [IconName, Kind]>> = {
  draft: ['pencil', undefined],
  processing: ['wait', 'wait'],
  approved: ['globe', 'good'],
  unlisted: ['link', undefined],
  archived: ['archive', undefined],
  private: ['lock', undefined],
  scheduled: ['calendar', 'wait'],
  rejected: ['x', 'bad'],
  withheld: ['eye-off', 'bad'],
}
const VERSION: Readonly<Record<string, readonly [IconName, Kind]>> = {
  listed: ['globe', 'good'],
  unlisted: ['link', undefined],
  archived: ['archive', undefined],
  draft: ['pencil', undefined],
  scheduled: ['calendar', 'wait'],
  unknown: ['wait', 'wait'],
}
const SCAN: Readonly<Record<string, readonly [IconName, Kind]>> = {
  none: ['shield', undefined],
  pending: ['wait', 'wait'],
  pass: ['shield', 'good'],
  warn: ['warning', 'wait'],
  quarantine: ['warning', 'bad'],
}
const TABLES = { project: PROJECT, version: VERSION, scan: SCAN }

/** Renders the label of a status of the API. Shows an unknown value as it is. */
export function statusOf(page: PageContext, of: keyof typeof TABLES, value: string): Markup {
  const [name, kind] = TABLES[of][value] ?? ['info', undefined]
  return status(page, { kind, icon: name, label: statusName(page, of, value) })
}

/** Returns the name of a status of the API. */
export const statusName = ({ language }: PageContext, of: keyof typeof TABLES, value: string): string =>
  messageOr(language, `work.${of}.${value}`, value)
