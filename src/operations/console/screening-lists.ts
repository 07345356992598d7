import { toChecksumAddress } from '../../api/parse-address.js'
import { isoTime } from '../../domain/iso-time.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { ruleView } from './address-rules.js'

type ReadPorts = Pick<OperationPorts, 'screeningLists' | 'reader'>

/** Names of files that could not be read are shown only to the operator. */
export function listScreeningLists({
  screeningLists,
}: ReadPorts): ConsoleHandlers['list_screening_lists'] {
  return () => {
    const { ready, reason, lists } = screeningLists.status()
    return {
      ok: true,
      value: {
        ready,
        reason,
        lists: lists.map(({ list, kind, source, version, entries, ...state }) => ({
          ...{ list, kind, source, version, entries },
          checked_at: state.checkedAtMs === 0 ? null : isoTime(state.checkedAtMs),
          max_age_seconds: state.maxAgeMs === null ? null : Math.floor(state.maxAgeMs / 1_000),
          stale: state.stale,
        })),
      },
    }
  }
}

/**
 * Spec silent: risk providers are asked when something is sent, not here, because they count
 * requests.
 */
export function checkAddress(ports: ReadPorts): ConsoleHandlers['check_address'] {
  const { screeningLists, reader } = ports
  return ({ userId }, input) => {
    const address = toChecksumAddress(input.address)
    const kinds = new Map(screeningLists.status().lists.map(({ list, kind }) => [list, kind]))
    const lists = screeningLists
      .listsWith(Buffer.from(address.slice(2), 'hex'))
      .map(({ list, version }) => ({ list, kind: kinds.get(list) ?? 'operator', version }))
    const rule = reader.users.addressRules(userId).find((one) => one.address === address)
    const isAllowed = rule?.action === 'allow'
    const refused =
      rule?.action === 'block' || lists.some(({ kind }) => !(isAllowed && kind === 'risk'))
    return {
      ok: true,
      value: { address, lists, rule: rule === undefined ? null : ruleView(rule), refused },
    }
  }
}
