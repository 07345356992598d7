import { useState } from 'preact/hooks'
import { type AgentOutput, callWithKey } from '../api.js'
import { formatUnits, parseUnits } from '../parts/money.js'
import { Left } from '../parts/times.js'
import { AddressField, AmountField, AssetField, type ByHand, NATIVE } from './assets.js'
import { QuotedForm, useQuoted } from './quoted.js'

type Quote = AgentOutput<'POST', '/api/swap/quote'>

/** Swaps by a quote; exactly that quote is executed. */
export function SwapByHand({ secret, chainId, assets }: ByHand) {
  const [tokenIn, setTokenIn] = useState(NATIVE)
  const [tokenOut, setTokenOut] = useState('')
  const [amount, setAmount] = useState('')
  const asset = assets.find(({ token }) => token === tokenIn)
  const units = asset === undefined ? null : parseUnits(amount, asset.decimals)
  const quoted = useQuoted({
    submission: {
      chain_id: chainId,
      token_in: tokenIn,
      token_out: tokenOut,
      amount_in: units ?? '0',
    },
    quote: (asked) => callWithKey(secret, 'POST', '/api/swap/quote', asked),
    go: (_asked, submissionId, { quote_id }) =>
      callWithKey(secret, 'POST', '/api/swap/execute', { quote_id }, submissionId),
  })
  return (
    <QuotedForm
      title="Swap"
      of={quoted}
      isComplete={units !== null}
      outcome={(quote) => <SwapOutcome of={quote} decimals={asset?.decimals ?? 0} />}
      goLabel={({ amount_out }) => `Swap for ${amount_out}`}
    >
      <AssetField label="From" assets={assets} value={tokenIn} onChange={setTokenIn} />
      <AmountField
        label={`Amount, ${asset?.symbol ?? ''}`}
        decimals={asset?.decimals ?? 0}
        value={amount}
        onChange={setAmount}
      />
      <AddressField label="Token to receive (address)" value={tokenOut} onChange={setTokenOut} />
      <div class="actions">
        {assets
          .filter(({ token }) => token !== tokenIn)
          .map(({ token, symbol }) => (
            <button key={token} type="button" onClick={() => setTokenOut(token)}>
              {symbol}
            </button>
          ))}
      </div>
    </QuotedForm>
  )
}

function SwapOutcome({ of: quote, decimals }: { readonly of: Quote; readonly decimals: number }) {
  const { amount_out, amount_out_min, price_impact_bps, fee_amount, fee_token, route } = quote
  return (
    <>
      <li>
        About {amount_out}, at least {amount_out_min}, by {route.venue}.
      </li>
      <li>
        The fee is {formatUnits(fee_amount, decimals)} {fee_token}
        {quote.gas_sponsored ? '; the service pays the gas.' : '.'}
      </li>
      <li>
        It moves the price by {percentOf(price_impact_bps)} %. Good for{' '}
        <Left until={quote.expires_at} /> more.
      </li>
    </>
  )
}

/** Basis points as a percentage. */
function percentOf(bps: number): string {
  const text = String(Math.abs(bps)).padStart(3, '0')
  return `${bps < 0 ? '−' : ''}${text.slice(0, -2)}.${text.slice(-2)}`
}
