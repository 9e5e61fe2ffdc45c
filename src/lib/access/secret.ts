// A value that must not be read by accident.
import { inspect } from 'node:util'

const SHOWN = '[secret]'

/** Holds a text that logs, JSON, string templates and inspection show as `[secret]`; only `reveal()` gives it. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  reveal(): string {
    return this.#value
  }

  toString(): string {
    return SHOWN
  }

  toJSON(): string {
    return SHOWN
  }

  [inspect.custom](): string {
    return SHOWN
  }
}
