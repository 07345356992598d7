import { useState } from 'preact/hooks'

const USD_PATTERN = '[0-9]{1,12}([.][0-9]{1,6})?'
/** As the API writes it. */
const NO_LIMIT = 'unlimited'

/**
 * A cap in USD, or none. A checkbox selects no cap, so that a cleared field is not mistaken for it.
 */
export function CapField(shown: {
  readonly label: string
  /** Name of the field in its form; absent if `onChange` is used. */
  readonly name?: string
  /** In the API's form. */
  readonly initial: string
  readonly isDisabled?: boolean
  /** Called with the cap in the API's form; empty while none is entered. */
  readonly onChange?: (cap: string) => void
}) {
  const { label, name, initial, isDisabled = false, onChange } = shown
  const [isUnlimited, setUnlimited] = useState(initial === NO_LIMIT)
  const [amount, setAmount] = useState(initial === NO_LIMIT ? '' : initial)
  return (
    <div>
      <label>
        {label}
        <input
          {...(name === undefined ? {} : { name })}
          inputMode="decimal"
          pattern={USD_PATTERN}
          required={!isUnlimited}
          disabled={isDisabled || isUnlimited}
          placeholder={isUnlimited ? 'No limit' : ''}
          value={isUnlimited ? '' : amount}
          onInput={(event) => {
            const typed = event.currentTarget.value.trim()
            setAmount(typed)
            onChange?.(typed)
          }}
        />
      </label>
      <label class="choice">
        <input
          type="checkbox"
          aria-label={`No limit: ${label}`}
          disabled={isDisabled}
          checked={isUnlimited}
          onChange={(event) => {
            const { checked } = event.currentTarget
            setUnlimited(checked)
            onChange?.(checked ? NO_LIMIT : amount)
          }}
        />
        <span>No limit</span>
      </label>
    </div>
  )
}
