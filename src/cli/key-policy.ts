import type { ConsoleOutput } from '../api/console-operations.js'
import { parsePolicy } from '../policy/parse-policy.js'
import type { Policy } from '../policy/policy.js'
import { allOf } from './all-pages.js'
import type { consoleClient } from './connection.js'
import { UsageError } from './exit-codes.js'

export type Key = ConsoleOutput<'list_keys'>['keys'][number]
type ConsoleClient = Awaited<ReturnType<typeof consoleClient>>

export function allKeys(client: ConsoleClient): Promise<Key[]> {
  return allOf(
    (page) => client.listKeys(page),
    ({ keys }) => keys,
  )
}

/** @throws UsageError where the user has none of this id */
export async function findKey(client: ConsoleClient, keyId: string): Promise<Key> {
  return keyIn(await allKeys(client), keyId)
}

export function keyIn(keys: readonly Key[], keyId: string): Key {
  const key = keys.find(({ key_id }) => key_id === keyId)
  if (key === undefined) throw new UsageError(`${keyId} is no key of yours`)
  return key
}

export function policyOfKey({ policy }: Key): Policy | null {
  const parsed = policy === null ? null : parsePolicy(policy)
  return parsed?.ok === true ? parsed.policy : null
}
