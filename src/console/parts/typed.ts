import { useState } from 'preact/hooks'

/**
 * What a field has, which begins with a value from elsewhere and follows it when that changes. Not by
 * an effect: the first one comes after the page is drawn, when somebody may have typed.
 */
export function useTyped(value: string): [text: string, set: (text: string) => void] {
  const [text, setText] = useState(value)
  const [followed, follow] = useState(value)
  if (followed !== value) {
    follow(value)
    setText(value)
  }
  return [followed === value ? text : value, setText]
}
