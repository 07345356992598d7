// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice Code that an account runs as its own, and that makes itself the owner. It logs nothing,
/// and the call that asks for it names nobody else.
contract Usurper {
    /// @dev Where an `OwnedAccount` has its owner.
    address private _owner;
    address private immutable SELF = address(this);

    function tidyUp() external {
        _owner = SELF;
    }
}
