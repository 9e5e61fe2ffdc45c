// A page context for tests, and the check that a document is valid HTML.
import assert from 'node:assert/strict'
import { HtmlValidate, StaticConfigLoader } from 'html-validate'
import { loadAssets } from '#web/ui/assets.ts'
import { type Language, languageOf } from '#web/ui/languages.ts'
import type { PageContext } from '#web/ui/page-context.ts'

const ASSETS = loadAssets()

export function samplePage(
  given: Partial<Omit<PageContext, 'language'>> & { tag?: Language['tag'] } = {},
): PageContext {
  const { tag = 'en', ...rest } = given
  const language = languageOf(tag)
  assert.ok(language !== undefined)
  const page: PageContext = {
    site: {
      name: 'Depot',
      url: 'https://depot.test/base',
      assets: ASSETS,
      sendsMail: true,
      paths: {
        home: '/',
        signIn: '/sign-in',
        signOut: '/sign-out',
        account: '/account',
        preferences: '/preferences',
        terms: '/account/terms',
      },
    },
    language,
    theme: 'system',
    address: '/base/x?y=1',
    account: undefined,
    now: Date.UTC(2026, 0, 20),
    csrfToken: () => 'token-of-the-form',
    personal: (part) => part(page),
    ...rest,
  }
  return page
}

/** Resolves the configuration once. Resolving it for every document takes a third of the validation. */
class OneConfig extends StaticConfigLoader {
  #resolved: ReturnType<StaticConfigLoader['getConfigFor']> | undefined
  override getConfigFor(...source: Parameters<StaticConfigLoader['getConfigFor']>) {
    this.#resolved ??= super.getConfigFor(...source)
    return this.#resolved
  }
}

const validator = new HtmlValidate(new OneConfig({ extends: ['html-validate:standard'] }))

/** Fails if a document is not valid HTML. */
export function assertValidHtml(document: string, name = ''): void {
  const { results } = validator.validateStringSync(document)
  const messages = results.flatMap(({ messages }) =>
    messages.map(
      ({ ruleId, message, line }) => `${line}: ${ruleId}: ${message}: ${document.split('\n')[line - 1]?.slice(0, 300)}`,
    ),
  )
  assert.deepEqual(messages, [], name)
  assertPlainErrors(document, name)
}

/** Values and paths of fields of the API: `no_action`, `file_parts.0`. Names of files and addresses can look like them. */
const RAW = /(?<![\w./@-])[a-z]+(?:_[a-z]+)+(?![\w./@-])|(?<![\w./@-])[a-z_]+\.\d+(?![\w.])/

/** The errors of a page are sentences for people. */
function assertPlainErrors(document: string, name: string): void {
  const errors =
    document.match(/<(?:div|p|small)[^>]* (?:id="errors"|class="error[ "])[\s\S]*?<\/(?:ul|p|small)>/g) ?? []
  for (const error of errors) assert.doesNotMatch(error.replace(/<[^>]*>/g, ' '), RAW, name)
}
