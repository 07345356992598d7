// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice Balances are shares of a pot that grows, as stETH's are.
contract RebasingToken {
    string public constant name = "Rebasing";
    string public constant symbol = "REB";
    uint8 public constant decimals = 6;
    uint256 public percent = 100;
    mapping(address => uint256) public sharesOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    function mint(address to, uint256 amount) external {
        sharesOf[to] += (amount * 100) / percent;
        emit Transfer(address(0), to, amount);
    }

    function balanceOf(address account) public view returns (uint256) {
        return (sharesOf[account] * percent) / 100;
    }

    function rebase(uint256 percent_) external {
        percent = percent_;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        _move(msg.sender, to, (amount * 100) / percent);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        _move(from, to, (amount * 100) / percent);
        return true;
    }

    function transferShares(address to, uint256 shares) external returns (uint256) {
        _move(msg.sender, to, shares);
        return (shares * percent) / 100;
    }

    function _move(address from, address to, uint256 shares) private {
        sharesOf[from] -= shares;
        sharesOf[to] += shares;
        emit Transfer(from, to, (shares * percent) / 100);
    }
}
