import { formatCap, formatMicros, shareOfCap } from './money.js'

/** From here on a cap is nearly used up, per mille. */
const NEAR = 800
const FULL = 1_000

/** What has been used of a cap. */
export function CapBar(shown: {
  /** Such as `Today`. */
  readonly label: string
  readonly usedMicros: bigint
  /** Decimal USD, or `unlimited`. */
  readonly cap: string
}) {
  const { label, usedMicros, cap } = shown
  const share = shareOfCap(usedMicros, cap)
  const tone = share === null || share < NEAR ? 'ok' : share < FULL ? 'warn' : 'bad'
  return (
    <div class="cap">
      <span class="cap-label">{label}</span>
      <span class="cap-words">
        <strong>{formatMicros(usedMicros)}</strong>
        <span class="mute"> / {formatCap(cap)}</span>
      </span>
      {/* The words say it already. */}
      <div class="cap-track" aria-hidden="true">
        <div class={`cap-fill ${tone}`} style={{ width: `${(share ?? 0) / 10}%` }} />
      </div>
    </div>
  )
}
