import { useState } from 'preact/hooks'
import { type AgentOutput, callWithKey } from '../api.js'
import { formatUsd, parseUnits } from '../parts/money.js'
import { AddressField, AmountField, AssetField, type ByHand, NATIVE } from './assets.js'
import { transferCall } from './calldata.js'
import { QuotedForm, useQuoted } from './quoted.js'

type Simulation = AgentOutput<'POST', '/api/tx/simulate'>

/** Sends native currency or a token, after a simulation of the same call. */
export function SendByHand({ secret, chainId, assets }: ByHand) {
  const [to, setTo] = useState('')
  const [amount, setAmount] = useState('')
  const [token, setToken] = useState(NATIVE)
  const asset = assets.find((one) => one.token === token)
  const units = asset === undefined ? null : parseUnits(amount, asset.decimals)
  const submission = { chain_id: chainId, ...callOf(token, to, units ?? '0') }
  const quoted = useQuoted({
    submission,
    quote: (asked) => callWithKey(secret, 'POST', '/api/tx/simulate', asked),
    go: (asked, submissionId) => callWithKey(secret, 'POST', '/api/tx/send', asked, submissionId),
  })
  return (
    <QuotedForm
      title="Send"
      of={quoted}
      isComplete={units !== null}
      outcome={(outcome) => <Outcome of={outcome} />}
      goLabel={({ success, spend_usd }) => (success ? `Send ${formatUsd(spend_usd)}` : null)}
    >
      <AssetField label="What" assets={assets} value={token} onChange={setToken} />
      <AddressField label="To" value={to} onChange={setTo} />
      <AmountField
        label={`Amount, ${asset?.symbol ?? ''}`}
        decimals={asset?.decimals ?? 0}
        value={amount}
        onChange={setAmount}
      />
    </QuotedForm>
  )
}

function callOf(token: string, to: string, units: string) {
  if (token === NATIVE) return { to, value: units }
  return /^0x[0-9a-fA-F]{40}$/.test(to) ? transferCall(token, to, units) : { to: token }
}

export function Outcome({ of: outcome }: { readonly of: Simulation }) {
  const { success, within_limits, screening, approval, spend_usd, revert_reason } = outcome
  return (
    <>
      <li>{success ? 'It succeeds.' : `It would fail: ${revert_reason ?? 'no reason given'}.`}</li>
      <li>
        It counts {formatUsd(spend_usd)} towards the caps
        {within_limits ? '.' : ', which exceeds them.'}
      </li>
      {screening.blocked && <li>It would be refused, because an address in it is on a list.</li>}
      {approval !== null && <li>It waits for approval: {approval.rule}.</li>}
    </>
  )
}
