// Calls the methods of an object in another process.
import type { CallOptions, Channel, Handlers } from './channel.ts'

type AnyMethod = (...args: never[]) => unknown
/** The methods of a type. Their arguments and results must suit `structuredClone`. */
type Methods<Target> = {
  [Name in keyof Target & string as Target[Name] extends AnyMethod ? Name : never]: Target[Name]
}

/** Returns handlers that call these methods of an object, named `AREA.METHOD`. */
export function offer<Target extends object>(
  area: string,
  target: Target,
  names: readonly (keyof Methods<Target> & string)[],
): Handlers {
  return Object.fromEntries(
    names.map((name) => {
      const method = (target as Record<string, AnyMethod>)[name]
      if (method === undefined) throw new Error(`${area} has no ${name}`)
      return [`${area}.${name}`, (args: readonly unknown[]) => method.apply(target, args as never[])]
    }),
  )
}

/** Returns the methods that the other side offers under these names. */
export function remote<Target extends object, Name extends keyof Methods<Target> & string>(
  area: string,
  channel: Pick<Channel, 'call'>,
  names: readonly Name[],
  options: CallOptions = {},
): Pick<Target, Name> {
  const methods = names.map((name) => {
    const full = `${area}.${name}`
    return [name, (...args: readonly unknown[]) => channel.call(full, args, options)]
  })
  return Object.fromEntries(methods) as Pick<Target, Name>
}
