// Parts of a page that differ between readers, such as the account menu. The rest of a cached page is the same for
// everyone.
import type { Viewer } from '#features/basics/access/viewer.ts'
import type { Deps } from '#ports/deps.ts'
import { html, type Markup, type Part, trusted } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import type { Setup } from './cookies.ts'

/** The person who reads a page, and their choices. */
export type Reader = { deps: Deps; viewer: Viewer | null; page: PageContext; setup: Setup }

/**
 * Renders a part for one reader. A cached page keeps the function: declare it outside the function that renders the page,
 * so that it does not keep the data of the page or of the first reader.
 */
export type PersonalPart = (reader: Reader) => Part | Promise<Part>

/** A document without its personal parts. Texts and parts follow each other in turn. */
export type SplitDocument = { texts: string[]; parts: PersonalPart[] }

/** Collects the personal parts of one document. Markers stand for them until the document is complete. */
export class PersonalParts {
  readonly #parts: PersonalPart[] = []

  /** Returns the marker of a part. Texts of users cannot contain it, because Depot rejects the NUL character. */
  add(part: PersonalPart): Markup {
    this.#parts.push(part)
    return trusted(`\u0000${this.#parts.length - 1}\u0000`)
  }

  /** Adds a part that depends only on the page of the reader. */
  addToPage(part: (page: PageContext) => Part): Markup {
    return this.add(({ page }) => part(page))
  }

  split(document: string): SplitDocument {
    if (this.#parts.length === 0) return { texts: [document], parts: [] }
    const pieces = document.split('\u0000')
    const parts = pieces.flatMap((piece, index) => (index % 2 === 1 ? (this.#parts[Number(piece)] ?? []) : []))
    return { texts: pieces.filter((_, index) => index % 2 === 0), parts }
  }
}

/** Renders the parts for a reader. Returns a promise only if one of them does. */
export function renderParts(parts: readonly PersonalPart[], reader: Reader): string[] | Promise<string[]> {
  const rendered = parts.map((part) => part(reader))
  const toTexts = (all: readonly Part[]): string[] => all.map((part) => String(html`${part}`))
  return rendered.some((part) => part instanceof Promise)
    ? Promise.all(rendered).then(toTexts)
    : toTexts(rendered as readonly Part[])
}
