import { toChecksumAddress } from '../../api/parse-address.js'
import type { AddressRule } from '../../domain/address-rule.js'
import type { UserId } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { pageOptions } from './page.js'

/** An entry counts from the next send on. A second entry for an address takes the first's place. */
export function putAddressRule({
  actors,
  quotas,
  nowMs,
}: OperationPorts): ConsoleHandlers['put_address_rule'] {
  return async ({ userId, personId: byPerson, requestId }, input) => {
    const rule: AddressRule = {
      address: toChecksumAddress(input.address),
      action: input.action,
      note: input.note ?? null,
      createdAtMs: nowMs(),
    }
    const set = await actors.ask(rulesOf(userId), {
      type: 'put',
      rule,
      limit: quotas.rules,
      requestId,
      byPerson,
    })
    return set.ok ? { ok: true, status: 201, value: ruleView(rule) } : set
  }
}

export function listAddressRules({
  reader,
}: OperationPorts): ConsoleHandlers['list_address_rules'] {
  return ({ userId }, input) => {
    const { limit, cursor } = pageOptions(input)
    const newestFirst = [...reader.users.addressRules(userId)].reverse()
    const at = cursor === null ? 0 : newestFirst.findIndex(({ address }) => address === cursor) + 1
    // The entry that the cursor names may be gone by now: then there is no place to go on from.
    const page = cursor !== null && at === 0 ? [] : newestFirst.slice(at, at + limit)
    const last = page.at(-1)
    const more = at + page.length < newestFirst.length
    return {
      ok: true,
      value: {
        rules: page.map(ruleView),
        next_cursor: last !== undefined && more ? last.address : null,
      },
    }
  }
}

export function deleteAddressRule({
  actors,
  nowMs,
}: OperationPorts): ConsoleHandlers['delete_address_rule'] {
  return async ({ userId, personId: byPerson, requestId }, input) => {
    const address = toChecksumAddress(input.address)
    const command = { type: 'delete', address, requestId, byPerson, nowMs: nowMs() } as const
    const removed = await actors.ask(rulesOf(userId), command)
    return removed.ok ? { ok: true, value: { deleted: true } } : removed
  }
}

function rulesOf(userId: UserId) {
  return { kind: 'address-rules', id: userId, userId } as const
}

export function ruleView(rule: AddressRule) {
  return {
    address: rule.address,
    action: rule.action,
    chain_id: null,
    note: rule.note,
    created_at: isoTime(rule.createdAtMs),
  }
}
