import { useMutation, useQueryClient } from '@tanstack/preact-query'
import { useRef } from 'preact/hooks'

export interface Step {
  readonly run: () => void
  readonly isRunning: boolean
  readonly error: unknown
}

/**
 * A call that changes something. When it is done everything shown is read again, because a freeze
 * or a new key changes more than one list.
 */
export function useAction<T>(act: () => Promise<T>, onDone?: (answer: T) => void): Step {
  const client = useQueryClient()
  return useQuestion(act, async (answer) => {
    onDone?.(answer)
    await client.invalidateQueries()
  })
}

/** A call that asks and changes nothing. */
export function useQuestion<T>(
  ask: () => Promise<T>,
  onAnswer: (answer: T) => void | Promise<void>,
): Step {
  // The latest text counts: options of a mutation change a frame after their inputs.
  const latest = useRef(ask)
  latest.current = ask
  // The button is disabled late as well, so a second press may come before.
  const isAsked = useRef(false)
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      try {
        return await latest.current()
      } finally {
        isAsked.current = false
      }
    },
    onSuccess: onAnswer,
  })
  return {
    run: () => {
      if (isAsked.current) return
      isAsked.current = true
      mutate()
    },
    isRunning: isPending,
    error,
  }
}
