import { toChecksumAddress } from '../../api/parse-address.js'
import type { Address } from '../../domain/ids.js'
import { formatUsd, valueUsdMicros } from '../../domain/money.js'
import { fault } from '../../errors/fault.js'
import { isKnown } from '../../pricing/price-source.js'
import { answerFromChain } from '../chain-answer.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'

export function getTokenBalances(ports: OperationPorts): AgentHandlers['get_token_balances'] {
  return ({ key }, { chain_id }) => {
    const owner = ports.reader.wallets.byId(key.subWalletId)?.address
    if (owner === undefined) return { ok: false, fault: fault('INVALID_KEY') }
    return readTokenBalances(ports, owner, chain_id)
  }
}

/** Reads the configured tokens of a chain; the balance of a token that does not answer is null. */
export function readTokenBalances(ports: OperationPorts, owner: Address, chainId: number) {
  return answerFromChain(ports, chainId, async ({ reads, config }) => {
    const known = config.tokens.map((token) => ({
      ...token,
      address: toChecksumAddress(token.address),
    }))
    const balances = await reads.tokenBalances(
      known.map(({ address }) => address),
      owner,
    )
    const tokens = []
    for (const [i, { address, symbol, decimals }] of known.entries()) {
      const balance = balances[i] ?? null
      const price = await ports.prices.price(chainId, address)
      const usdMicros =
        balance !== null && isKnown(price)
          ? valueUsdMicros(balance, decimals, price.value, price.decimals)
          : null
      tokens.push({
        token: address,
        symbol,
        decimals,
        balance: balance === null ? null : balance.toString(),
        usd_value: usdMicros === null ? null : formatUsd(usdMicros),
      })
    }
    return { ok: true, value: { chain_id: chainId, tokens } }
  })
}
