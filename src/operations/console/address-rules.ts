import { invalidAt } from '../../api/parse.js'
import { toChecksumAddress } from '../../api/parse-address.js'
import type { AddressRule } from '../../domain/address-rule.js'
import type { Address, UserId } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import { refuse } from '../../errors/fault.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { pageOptions } from './page.js'

/**
 * Adds an entry, which applies from the next send on. A second entry for an address replaces the
 * first.
 */
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
    const newestFirst = [...reader.users.addressRules(userId)].sort(compare)
    const after = cursor === null ? null : placeAt(cursor)
    if (cursor !== null && after === null) {
      return refuse(invalidAt('cursor', 'is not a next_cursor of this list'))
    }
    const at = after === null ? 0 : newestFirst.findIndex((rule) => compare(rule, after) > 0)
    const page = at === -1 ? [] : newestFirst.slice(at, at + limit)
    const last = page.at(-1)
    const more = at + page.length < newestFirst.length
    return {
      ok: true,
      value: {
        rules: page.map(ruleView),
        next_cursor: last !== undefined && more ? `${last.createdAtMs}_${last.address}` : null,
      },
    }
  }
}

/**
 * The position of an entry in the list, even once it is removed, so that paging continues after it.
 */
type Place = Pick<AddressRule, 'createdAtMs' | 'address'>

/** Sorts newest first. */
function compare(a: Place, b: Place): number {
  return b.createdAtMs - a.createdAtMs || (a.address < b.address ? 1 : -1)
}

const CURSOR = /^(\d{1,15})_(0x[0-9a-fA-F]{40})$/

function placeAt(cursor: string): Place | null {
  const [, createdAtMs, address] = CURSOR.exec(cursor) ?? []
  if (address === undefined) return null
  return { createdAtMs: Number(createdAtMs), address: address as Address }
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
