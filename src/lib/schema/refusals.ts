// Collects the errors of a body, so that one response lists them. Checks throw as usual: a single check needs no list.
import { ApiError, type FieldError } from '../errors.ts'

/** Maximum number of errors in a response. */
export const ERRORS_MAX = 32
/** A list is checked up to this number of invalid items. */
export const INVALID_ITEMS_MAX = 3

export class Refusals {
  readonly #fields = new Set<string>()
  readonly #errors: FieldError[] = []
  #first: ApiError | undefined

  /** Starts with the errors of an earlier check. */
  constructor(before?: Refusals) {
    if (before === undefined || before.#first === undefined) return
    this.#first = before.#first
    this.#errors.push(...before.#errors)
    for (const { field } of this.#errors) this.#fields.add(field)
  }

  /** Returns the result of a rule, or undefined if it refuses the value. */
  check<T>(rule: () => T): T | undefined {
    try {
      return rule()
    } catch (error) {
      this.#add(error)
      return undefined
    }
  }

  /** Like `check`, for a rule that needs the database. */
  async wait<T>(rule: () => Promise<T>): Promise<T | undefined> {
    try {
      return await rule()
    } catch (error) {
      this.#add(error)
      return undefined
    }
  }

  /** Like `wait`, for rules that run at the same time. Reports their errors in this order. */
  async settle<const Results extends readonly unknown[]>(
    rules: {
      [Index in keyof Results]: Promise<Results[Index]>
    },
  ): Promise<{ [Index in keyof Results]: Results[Index] | undefined }> {
    const settled = await Promise.allSettled(rules)
    for (const result of settled) if (result.status === 'rejected') this.#add(result.reason)
    const values = settled.map((result) => (result.status === 'fulfilled' ? result.value : undefined))
    return values as { [Index in keyof Results]: Results[Index] | undefined }
  }

  /** Checks each item, up to the third that is invalid. Returns the results. */
  each<Item, T>(items: Iterable<Item>, rule: (item: Item, index: number) => T): T[] {
    const results: T[] = []
    let invalid = 0
    let index = 0
    for (const item of items) {
      if (invalid === INVALID_ITEMS_MAX) break
      const errors = this.#errors.length
      const result = this.check(() => rule(item, index))
      if (this.#errors.length > errors) invalid += 1
      else results.push(result as T)
      index += 1
    }
    return results
  }

  get isEmpty(): boolean {
    return this.#first === undefined
  }

  /** Whether further errors would not be reported. */
  get isFull(): boolean {
    return this.#errors.length >= ERRORS_MAX
  }

  /** @throws ApiError the first error, with the list of all. */
  throwAny(): void {
    const first = this.#first
    if (first === undefined) return
    const { kind, message, details, headers, cause } = first
    throw new ApiError(kind, message, {
      ...(details === undefined ? {} : { details }),
      ...(headers === undefined ? {} : { headers }),
      ...(cause === undefined ? {} : { cause }),
      errors: this.#errors,
    })
  }

  /** Later errors of the same field follow from the first. Errors without a field, such as 403, end the collection. */
  #add(error: unknown): void {
    const listed = error instanceof ApiError ? error.fieldErrors : []
    if (listed.length === 0) {
      this.throwAny()
      throw error
    }
    this.#first ??= error as ApiError
    for (const each of listed) {
      if (this.isFull || this.#fields.has(each.field)) continue
      this.#fields.add(each.field)
      this.#errors.push(each)
    }
  }
}
