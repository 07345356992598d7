import type { CallClass } from '../call-classes.js'
import type { Connection, Handlers } from '../server.js'
import type { Codec, ListCodec, ValueOf } from './codec.js'

/**
 * Who may call a method.
 *
 * | admits | callers |
 * |---|---|
 * | anyone | every peer on the socket |
 * | leader | every start, while this identity provider leads its journal |
 * | served | the same, but only the start that announced itself last |
 * | served-with-space | the same, while the identity provider has disk space for a decision |
 */
type Admits = 'anyone' | 'leader' | 'served' | 'served-with-space'

interface Method {
  readonly callClass: CallClass
  readonly admits: Admits
  readonly parameters: ListCodec<unknown>
  readonly result: Codec<unknown>
}

/** The methods of one domain, by their names on the wire. */
export type Methods = Readonly<Record<string, Method>>
export type MethodsOf<M> = { readonly [Name in keyof M]: Method }
export type ParametersOf<M extends Method> = ValueOf<M['parameters']>
export type ResultOf<M extends Method> = ValueOf<M['result']>
/** By the names of the methods. */
export type FieldsOf<M extends MethodsOf<M>> = { readonly [Name in keyof M]: ParametersOf<M[Name]> }
export type ResultsOf<M extends MethodsOf<M>> = { readonly [Name in keyof M]: ResultOf<M[Name]> }

/** A domain's knowledge of an admitted caller, by the kind of admission. */
type Callers<M extends MethodsOf<M>> = { readonly [A in M[keyof M]['admits']]: unknown }

/** Each returns the admitted caller or throws a Refusal. */
type Gates<C> = { readonly [A in keyof C]: (connection: Connection) => C[A] }

type Implementations<M extends MethodsOf<M>, C> = {
  readonly [Name in keyof M]: (
    fields: FieldsOf<M>[Name],
    connection: Connection,
    caller: C[M[Name]['admits'] & keyof C],
  ) => ResultsOf<M>[Name] | Promise<ResultsOf<M>[Name]>
}

/** Serves a domain's methods. A caller is admitted before its parameters are read. */
export function handlersOf<M extends MethodsOf<M>, C extends Callers<M>>(
  methods: M,
  gates: Gates<C>,
  implementations: Implementations<M, C>,
): Handlers {
  const names = Object.keys(methods) as (keyof M & string)[]
  const handlers = names.map((name) => {
    const method = methods[name]
    const gate = gates[method.admits as keyof C]
    return [name, handlerOf(method, gate, implementations[name])] as const
  })
  return Object.fromEntries(handlers)
}

function handlerOf<Caller>(
  { parameters, result }: Method,
  gate: (connection: Connection) => Caller,
  implementation: (fields: never, connection: Connection, caller: never) => unknown,
): Handlers[string] {
  return async (packed, connection) => {
    const caller = gate(connection)
    const fields = parameters.decode(packed)
    return result.encode(await implementation(fields as never, connection, caller as never))
  }
}
