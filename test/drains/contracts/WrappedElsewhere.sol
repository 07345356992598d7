// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice Wrapped native currency with WETH10's functions in others' names.
contract WrappedElsewhere {
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function depositTo(address to) external payable {
        balanceOf[to] += msg.value;
        emit Transfer(address(0), to, msg.value);
    }

    function withdrawTo(address payable to, uint256 amount) external {
        balanceOf[msg.sender] -= amount;
        emit Transfer(msg.sender, address(0), amount);
        (bool sent, ) = to.call{value: amount}("");
        require(sent, "withdraw");
    }
}
