// Changes of owners: lists who gains and who loses access when a project joins or leaves an organization, and renders the
// field for the new owner.

import type { FormState } from '#web/kit/forms/form-page.ts'
import type { Markup, Part } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { selectField } from '#web/ui/parts/fields.ts'
import type { ShownRow } from './team-data.ts'

/** Maximum number of people that a sentence names. */
const NAMED_MAX = 20

/** Returns the names as a list in the language of the page. A long list ends with the number of the others. */
export function listNames({ language }: PageContext, rows: readonly ShownRow[]): string {
  const names = rows.slice(0, NAMED_MAX).map(({ user }) => user.username)
  const others = rows.length - names.length
  const all = others > 0 ? [...names, language.t('people.others', { count: others })] : names
  return new Intl.ListFormat(language.tag).format(all)
}

export const acceptedOf = (rows: readonly ShownRow[]): ShownRow[] => rows.filter(({ accepted }) => accepted)

/** Returns the rows of people who are not in the other team. */
export function missingIn(rows: readonly ShownRow[], others: readonly ShownRow[]): ShownRow[] {
  const known = new Set(others.map(({ account_id }) => account_id))
  return rows.filter(({ account_id }) => !known.has(account_id))
}

type Addition = {
  name: string
  organization: string
  /** Accepted members of the project. */
  members: readonly ShownRow[]
  /** Accepted members of the organization. */
  joining: readonly ShownRow[]
}

/** Returns the consequences for a project that joins an organization. */
export function additionConsequences(page: PageContext, { members, joining, ...names }: Addition): Part[] {
  const { t } = page.language
  const gaining = missingIn(joining, members)
  const owner = members.find(({ is_owner }) => is_owner)
  return [
    gaining.length > 0 && t('people.add.gain', { names: listNames(page, gaining), count: gaining.length }),
    owner !== undefined && t('people.add.owner', { ...names, member: owner.user.username }),
    t('people.add.stay'),
  ].filter((text) => text !== false)
}

type Removal = {
  name: string
  /** Accepted members of the project. */
  members: readonly ShownRow[]
  /** Accepted members of the organization. */
  leaving: readonly ShownRow[]
  owner: ShownRow
}

/** Returns the consequences for a project that leaves its organization. */
export function removalConsequences(page: PageContext, { name, members, leaving, owner }: Removal): string[] {
  const { t } = page.language
  const losing = missingIn(leaving, [...members, owner])
  return [
    t('people.take.owner', { name, member: owner.user.username }),
    losing.length > 0 && t('people.take.lose', { names: listNames(page, losing), count: losing.length }),
  ].filter((text) => text !== false)
}

type MemberSelect = { name: string; rows: readonly ShownRow[]; state: FormState }

export function memberSelect(page: PageContext, { name, rows, state }: MemberSelect): Markup {
  return selectField(page, {
    name,
    label: page.language.t('people.new-owner'),
    errors: state.errors,
    choices: rows.map(({ account_id, user }) => ({
      value: account_id,
      label: user.username,
      isChosen: state.text(name) === account_id,
    })),
  })
}
