import { useSearchParams } from 'wouter-preact'

/** The filters of a list. They are in the page's address, so that links include them. */
export interface Filters {
  /** Null if this filter is not set. */
  readonly get: (name: string) => string | null
  /** @param value empty to clear the filter */
  readonly set: (name: string, value: string) => void
  readonly isNarrowed: boolean
}

export function useFilters(names: readonly string[]): Filters {
  const [params, setParams] = useSearchParams()
  return {
    get: (name) => params.get(name),
    set: (name, value) =>
      setParams((before) => {
        const next = new URLSearchParams(before)
        if (value === '') next.delete(name)
        else next.set(name, value)
        return next
      }),
    isNarrowed: names.some((name) => params.has(name)),
  }
}

export interface Choice {
  readonly name: string
  readonly label: string
  readonly options: readonly (readonly [value: string, title: string])[]
}

export function FilterChoices(shown: {
  readonly filters: Filters
  readonly choices: readonly Choice[]
}) {
  const { filters } = shown
  return (
    <fieldset class="filters">
      <legend class="hidden">Narrow the list</legend>
      {shown.choices.map(({ name, label, options }) => {
        const value = filters.get(name) ?? ''
        const isListed = value === '' || options.some(([one]) => one === value)
        return (
          <label key={name}>
            {label}
            <select
              name={name}
              value={value}
              onChange={({ currentTarget }) => filters.set(name, currentTarget.value)}
            >
              <option value="">All</option>
              {!isListed && <option value={value}>{value}</option>}
              {options.map(([one, title]) => (
                <option key={one} value={one}>
                  {title}
                </option>
              ))}
            </select>
          </label>
        )
      })}
    </fieldset>
  )
}
