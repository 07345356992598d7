import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { type AgentOutput, callWithKey } from '../api.js'
import { formatUnits, parseUnits } from '../parts/money.js'
import { Card } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { AmountField, type ByHand } from './assets.js'
import { QuotedForm, useQuoted } from './quoted.js'

type Listed = AgentOutput<'GET', '/api/defi/markets'>['markets'][number]

/** A market that accepts deposits. */
interface Market extends Listed {
  readonly asset: string
  readonly asset_decimals: number
}

function isOpen(market: Listed): market is Market {
  return market.paused === false && market.asset !== null && market.asset_decimals !== null
}

/** Deposits into a vault that the service knows, after showing the terms. */
export function DepositByHand(by: ByHand) {
  const { secret, chainId } = by
  const markets = useQuery({
    queryKey: ['markets', chainId],
    queryFn: () => callWithKey(secret, 'GET', '/api/defi/markets', { chain_id: chainId }),
  })
  return (
    <Answered query={markets} what="markets">
      {({ markets }) => {
        const open = markets.filter(isOpen)
        if (open.length > 0) return <DepositForm {...by} markets={open} />
        return (
          <Card title="Deposit">
            <Empty title="No vault accepts deposits on this chain" />
          </Card>
        )
      }}
    </Answered>
  )
}

function DepositForm(shown: ByHand & { readonly markets: readonly Market[] }) {
  const { secret, chainId, assets, markets } = shown
  const [chosen, choose] = useState('')
  const [amount, setAmount] = useState('')
  const market = markets.find(({ market_id }) => market_id === chosen) ?? markets[0]
  const units = market === undefined ? null : parseUnits(amount, market.asset_decimals)
  const held = assets.find(({ token }) => token.toLowerCase() === market?.asset.toLowerCase())
  const quoted = useQuoted({
    submission: { chain_id: chainId, market_id: market?.market_id ?? '', amount: units ?? '0' },
    quote: (asked) => callWithKey(secret, 'POST', '/api/defi/deposit/quote', asked),
    go: (asked, submissionId) =>
      callWithKey(secret, 'POST', '/api/defi/deposit', asked, submissionId),
  })
  return (
    <QuotedForm
      title="Deposit"
      of={quoted}
      isComplete={units !== null}
      outcome={({ amount_out, fee_amount, fee_token, gas_sponsored }) => (
        <>
          <li>Makes about {amount_out} shares.</li>
          <li>
            The fee is {formatUnits(fee_amount, market?.asset_decimals ?? 0)} {fee_token}
            {gas_sponsored ? '; the service pays the gas.' : '.'}
          </li>
        </>
      )}
      goLabel={() => `Deposit ${amount} ${market?.asset_symbol ?? ''}`}
    >
      <label>
        Into
        <select
          value={market?.market_id ?? ''}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        >
          {markets.map(({ market_id, name, protocol, apy }) => (
            <option key={market_id} value={market_id}>
              {name}, {protocol}
              {apy !== null && `, yields ${yieldOf(apy)} a year`}
            </option>
          ))}
        </select>
      </label>
      <AmountField
        label={`Amount, ${market?.asset_symbol ?? ''}${held === undefined ? '' : `, of ${formatUnits(held.balance, held.decimals)}`}`}
        decimals={market?.asset_decimals ?? 0}
        value={amount}
        onChange={setAmount}
      />
    </QuotedForm>
  )
}

/** A decimal fraction as a percentage, cut to two places. */
function yieldOf(fraction: string): string {
  const [whole = '0', digits = ''] = fraction.split('.')
  const all = `${whole}${digits.padEnd(4, '0').slice(0, 4)}`.padStart(5, '0')
  return `${all.slice(0, -2).replace(/^0+(?=\d)/, '')}.${all.slice(-2)} %`
}
