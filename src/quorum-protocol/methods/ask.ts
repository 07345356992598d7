import type { CallClass } from '../call-classes.js'
import type { FieldsOf, Methods, MethodsOf, ResultsOf } from './method.js'
import { QUORUM_SIGNER } from './quorum-signer.js'
import { USER_SIDE } from './user-side.js'

/** A connection to a domain. */
interface Peer {
  call(method: string, parameters: readonly unknown[]): Promise<unknown>
}

/**
 * Calls a method by its name with named fields.
 * @throws Refusal as the peer answered, or MALFORMED for an invalid result
 * @throws Unanswered
 */
type Ask<M extends MethodsOf<M>> = <Name extends keyof M & string>(
  peer: Peer,
  name: Name,
  fields: FieldsOf<M>[Name],
) => Promise<ResultsOf<M>[Name]>

function askerOf<M extends MethodsOf<M>>(methods: M): Ask<M> {
  return async (peer, name, fields) => {
    const { parameters, result } = methods[name]
    const answer = await peer.call(name, parameters.encode(fields))
    return result.decode(answer) as ResultsOf<M>[typeof name]
  }
}

export const askUserSide = askerOf(USER_SIDE)
export const askQuorumSigner = askerOf(QUORUM_SIGNER)

const CLASSES: ReadonlyMap<string, CallClass> = new Map(
  [USER_SIDE, QUORUM_SIGNER].flatMap((methods: Methods) =>
    Object.entries(methods).map(([name, { callClass }]) => [name, callClass] as const),
  ),
)

/** Every method without another class is console work. */
export function classOf(method: string): CallClass {
  return CLASSES.get(method) ?? 'console'
}
