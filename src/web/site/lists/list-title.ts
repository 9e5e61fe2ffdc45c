import type { Language } from '#platform/html/languages.ts'
import { isSet, type Setup } from '#web/kit/setup.ts'
import { tagName } from '../names.ts'
import type { ListRequest } from './list-request.ts'

/** `1.21.4 on Fabric`; empty when nothing is chosen. */
export function setupName({ t }: Language, { gameVersion, loader }: Setup): string {
  if (gameVersion === '') return tagName(loader)
  return loader === '' ? gameVersion : t('site.setup.both', { version: gameVersion, loader: tagName(loader) })
}

/** What a list holds: `1,204 mods for 1.21.4 on Fabric`. */
export function listTitle(language: Language, { type, text, setup }: ListRequest, total: number): string {
  const what =
    type === undefined
      ? language.t('site.count.project', { count: total })
      : language.t(`site.count.${type}`, { count: total })
  const named = text.trim() === '' ? what : language.t('site.list.matching', { what, text: text.trim() })
  return isSet(setup) ? language.t('site.list.for', { what: named, setup: setupName(language, setup) }) : named
}
