import type { Output } from '../api.js'
import { formatUnits } from '../parts/money.js'

type Balances = Output<'GET', '/api/v1/agent/wallets/:sub_wallet_id/balances'>

/** The address that stands for native currency in calls of swaps. */
export const NATIVE = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'

export interface ListedAsset {
  /** Its contract, or NATIVE. */
  readonly token: string
  readonly symbol: string
  readonly decimals: number
  /** Smallest units; null if it could not be read now. */
  readonly balance: string | null
  readonly usdValue: string | null
}

/** An asset whose balance is known. */
export interface Asset extends ListedAsset {
  readonly balance: string
}

/** What people do with a wallet themselves, with the same calls as an agent. */
export interface ByHand {
  readonly secret: string
  readonly chainId: number
  readonly assets: readonly Asset[]
}

export function assetsOf({ native, tokens }: Balances): readonly ListedAsset[] {
  return [
    { ...native, token: NATIVE, usdValue: null },
    ...tokens.map((one) => ({ ...one, usdValue: one.usd_value })),
  ]
}

export function isRead(asset: ListedAsset): asset is Asset {
  return asset.balance !== null
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
