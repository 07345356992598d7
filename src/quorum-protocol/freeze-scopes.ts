import type { FreezeScope } from '../domain/freeze.js'
import { Refusal } from './refusal.js'

/** Numbers on the wire and in the evidence; only refusals use `instance`. */
export const FREEZE_SCOPES = { user: 1, wallet: 2, key: 3, instance: 4 } as const

const WITHIN_ACCOUNT: readonly FreezeScope[] = ['user', 'wallet', 'key']

/** @throws Refusal MALFORMED unless the number is a scope within a user's account */
export function freezeScopeOf(number: number): FreezeScope {
  const scope = WITHIN_ACCOUNT.find((name) => FREEZE_SCOPES[name] === number)
  if (scope === undefined) throw new Refusal('MALFORMED', 'freeze statement')
  return scope
}
