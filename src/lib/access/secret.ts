// A value that must not appear in output by accident.
import { inspect } from 'node:util'

const SHOWN = '[secret]'

/** Contains a string that logs, JSON, template strings and inspection show as `[secret]`. Only `reveal()` returns it. */
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
