// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice Holds a call that a hostile contract makes in the middle of somebody else's.
abstract contract Callback {
    address private _target;
    bytes private _data;

    /// @notice True when the call went through: the attack worked.
    bool public succeeded;
    /// @notice First 4 bytes of what the call reverted with.
    bytes4 public refusal;

    function arm(address target, bytes calldata data) external {
        _target = target;
        _data = data;
    }

    /// @dev Swallows the refusal, so that the surrounding call goes on.
    function _callBack() internal {
        if (_target == address(0)) return;
        address target = _target;
        _target = address(0);
        bytes memory answer;
        (succeeded, answer) = target.call(_data);
        if (!succeeded && answer.length >= 4) refusal = bytes4(answer);
    }
}
