import type { Output } from '../api.js'
import { formatUnits } from '../parts/money.js'

type Balances = Output<'GET', '/api/v1/agent/wallets/:sub_wallet_id/balances'>

/** Native currency as calls of swaps name it. */
export const NATIVE = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'

export interface Asset {
  /** Its contract, or NATIVE. */
  readonly token: string
  readonly symbol: string
  readonly decimals: number
  /** Smallest units. */
  readonly balance: string
  readonly usdValue: string | null
}

/** What people do with a wallet themselves, by the same calls as an agent. */
export interface ByHand {
  readonly secret: string
  readonly chainId: number
  readonly assets: readonly Asset[]
}

export function assetsOf({ native, tokens }: Balances): readonly Asset[] {
  return [
    { ...native, token: NATIVE, usdValue: null },
    ...tokens.map((one) => ({ ...one, usdValue: one.usd_value })),
  ]
}

export function AssetField(shown: {
  readonly label: string
  readonly assets: readonly Asset[]
  readonly value: string
  readonly onChange: (token: string) => void
}) {
  return (
    <label>
      {shown.label}
      <select
        value={shown.value}
        onChange={({ currentTarget }) => shown.onChange(currentTarget.value)}
      >
        {shown.assets.map(({ token, symbol, balance, decimals }) => (
          <option key={token} value={token}>
            {symbol}, {formatUnits(balance, decimals)}
          </option>
        ))}
      </select>
    </label>
  )
}

export function AmountField(shown: {
  readonly label: string
  readonly decimals: number
  readonly value: string
  readonly onChange: (text: string) => void
}) {
  const { label, decimals, value, onChange } = shown
  const pattern = decimals === 0 ? '[0-9]+' : `[0-9]+([.][0-9]{1,${decimals}})?`
  return (
    <label>
      {label}
      <input
        required
        inputMode="decimal"
        autocomplete="off"
        pattern={pattern}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value.trim())}
      />
    </label>
  )
}

export function AddressField(shown: {
  readonly label: string
  readonly value: string
  readonly onChange: (text: string) => void
}) {
  return (
    <label>
      {shown.label}
      <input
        required
        spellcheck={false}
        autocomplete="off"
        pattern="0x[0-9a-fA-F]{40}"
        placeholder="0x…"
        value={shown.value}
        onInput={({ currentTarget }) => shown.onChange(currentTarget.value.trim())}
      />
    </label>
  )
}
