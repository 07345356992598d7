import { subWalletAddress } from '../../../actors/addresses.js'
import { toChecksumAddress } from '../../api/parse-address.js'
import type { ChainId } from '../../domain/chains.js'
import type { Hex } from '../../domain/ids.js'
import { formatUsd } from '../../domain/money.js'
import { capBreach } from '../../domain/spend.js'
import { fault } from '../../errors/fault.js'
import { frozenFault } from '../../errors/frozen.js'
import { ofRead } from '../../errors/outcome-unknown.js'
import type { ApprovalAsked } from '../../policy/approval-asked.js'
import type { Inspection } from '../../screening/screener.js'
import { simulateTransaction } from '../../valuation/simulate-transaction.js'
import { burnFault } from '../burns.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'

/** Returns everything by which a send would be judged, without signing or reserving anything. */
export function simulateTransactionHandler(
  ports: OperationPorts,
): AgentHandlers['simulate_transaction'] {
  const { reader, actors, screener, freezes, nowMs } = ports
  return async ({ key }, input) => {
    // A send would be refused for a freeze, whatever it is.
    const frozen = freezes.freezeOf(key)
    if (frozen !== null) return { ok: false, fault: frozenFault(frozen) }
    const from = reader.wallets.byId(key.subWalletId)?.address
    if (from === undefined) return { ok: false, fault: fault('INVALID_KEY') }
    const chainId = input.chain_id
    const to = toChecksumAddress(input.to)
    const data = (input.data ?? '0x').toLowerCase() as Hex
    const burn = burnFault({ to, data, allowBurn: input.allow_burn === true })
    if (burn !== null) return { ok: false, fault: burn }
    const call = { chainId, from, to, data, value: BigInt(input.value ?? '0') }
    const forecast = await simulateTransaction(ports, call)
    if (!forecast.ok) return forecast
    const { answer, unpriced, recipients, exposure, gasMicros, gasWei } = forecast.value
    const command = {
      type: 'read-limits' as const,
      keyId: key.keyId,
      nowMs: nowMs(),
      ...(exposure === null ? {} : { forecast: { chainId, exposure } }),
      judged: {
        kind: 'send' as const,
        call: { chainId, to, value: call.value, data },
        spendMicros: unpriced ? null : forecast.value.spendMicros,
        gasMicros,
        gasWei,
      },
    }
    const [limits, inspection] = await Promise.all([
      actors.ask(subWalletAddress(key), command),
      screener.inspect({
        chainId: chainId as ChainId,
        userId: key.userId,
        to,
        data,
        extra: recipients,
      }),
    ])
    if (!limits.ok) return ofRead(limits)
    const { key: current, counters, above, valueMicros, predicted } = limits.value
    if (predicted !== undefined && predicted.denied !== null) {
      return { ok: false, fault: predicted.denied }
    }
    const spendMicros =
      valueMicros === undefined ? forecast.value.spendMicros : valueMicros + gasMicros
    const path = [{ key: current, counters }, ...above]
    const priced = !unpriced || path.every((node) => node.key.unpricedAssets === 'allow')
    const fits = path.every((node) => capBreach(node.counters, node.key, spendMicros) === null)
    return {
      ok: true,
      value: {
        ...answer,
        spend_usd: formatUsd(spendMicros),
        asset_changes: answer.asset_changes.map((change) => ({ ...change })),
        approvals: answer.approvals.map((approval) => ({ ...approval })),
        within_limits: priced && fits,
        screening: screeningView(inspection),
        approval: predicted?.asks == null ? null : askedView(predicted.asks),
      },
    }
  }
}

function askedView({ rule, needed, expiresSeconds, delaySeconds }: ApprovalAsked) {
  return { rule, needed, expires_seconds: expiresSeconds, delay_seconds: delaySeconds }
}

function screeningView({ verdict, addresses }: Inspection) {
  return {
    blocked: verdict.outcome !== 'clean',
    addresses: addresses.map(({ address, path, hit }) => ({
      address,
      path,
      hit: hit === null ? null : { list: hit.list, version: hit.listVersion },
    })),
  }
}
