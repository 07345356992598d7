import { userBreakersAddress } from '../../../actors/addresses.js'
import type { UserId } from '../../domain/ids.js'
import { USER_BREAKER_PRESETS, type UserBreaker } from '../../policy/user-breakers.js'
import { userBreakerJson, userBreakerOf } from '../../policy/user-breakers-json.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'

const PRESETS = ['off', 'usual', 'strict'] as const

/**
 * Spec silent: a console token is enough to set breakers, or to remove them. They give nothing:
 * caps, policies and grants still apply without them. A breaker that must outlive a stolen token
 * belongs in the key's policy, which is part of its grant.
 */
export function setUserBreakers({
  actors,
  nowMs,
}: OperationPorts): ConsoleHandlers['set_breakers'] {
  return async ({ userId, personId: byPerson, requestId }, { breakers }) => {
    const wanted =
      typeof breakers === 'string' ? USER_BREAKER_PRESETS[breakers] : breakers.map(userBreakerOf)
    const of = { requestId, byPerson, nowMs: nowMs() }
    const command = { type: 'set', breakers: wanted, ...of } as const
    const set = await actors.ask(userBreakersAddress(userId as UserId), command)
    return set.ok ? { ok: true, value: viewOf(set.value) } : set
  }
}

export function getUserBreakers({ reader }: OperationPorts): ConsoleHandlers['get_breakers'] {
  return ({ userId }) => {
    const { breakers = [] } = reader.userBreakers.of(userId as UserId) ?? {}
    return { ok: true, value: viewOf(breakers) }
  }
}

function viewOf(breakers: readonly UserBreaker[]) {
  const text = JSON.stringify(breakers.map(userBreakerJson))
  const isPreset = (name: (typeof PRESETS)[number]) =>
    JSON.stringify(USER_BREAKER_PRESETS[name].map(userBreakerJson)) === text
  return { breakers: breakers.map(userBreakerJson), preset: PRESETS.find(isPreset) ?? null }
}
